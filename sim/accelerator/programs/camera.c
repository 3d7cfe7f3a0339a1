// Camera with two frame buffers: one fills by DMA while the CPU reads the other.
#include "program.h"
#include <linux/dma-mapping.h>

enum { CAMERA = 0, WIDTH = 32, ROWS = 2, FRAME_BYTES = WIDTH * ROWS };

static uint8_t frames[2][FRAME_BYTES] __attribute__((aligned(LINE)));
static uint8_t sensor[2][FRAME_BYTES];
static struct device *const camera = NULL;

static void expose(void *number)
{
    int frame = *(int *)number;
    for (int i = 0; i < FRAME_BYTES; i++)
        sensor[frame % 2][i] = (uint8_t)noise(frame * FRAME_BYTES + i);
}

static void start_frame(int number)
{
    uint8_t *frame = frames[number % 2];
    if (has("for-device"))
        dma_sync_single_for_device(camera, (dma_addr_t)(uintptr_t)frame, FRAME_BYTES,
                                   DMA_FROM_DEVICE);
    racetrap_device_run(CAMERA, expose, &number, sizeof number);
    racetrap_dma_write_2d(CAMERA, frame, sensor[number % 2], WIDTH, ROWS, WIDTH, WIDTH);
}

int main(int count, char **arguments)
{
    int number_of_frames = read_arguments(count, arguments, 3, 1 << 20);
    uint32_t sum = 0;

    start_frame(0);
    for (int number = 0; number < number_of_frames; number++) {
        if (has("wait"))
            racetrap_sync(CAMERA);  // the interrupt at the end of a frame
        start_frame(number + 1);
        uint8_t *frame = frames[(number + !has("swap")) % 2];
        if (has("for-cpu"))
            dma_sync_single_for_cpu(camera, (dma_addr_t)(uintptr_t)frame, FRAME_BYTES,
                                    DMA_FROM_DEVICE);
        for (int i = 0; i < FRAME_BYTES; i++) {
            sum = (sum ^ frame[i]) * 0x01000193;
            frame[i] /= 2;  // an exposure mark, drawn over the picture
        }
    }
    racetrap_sync(CAMERA);
    return result("camera", 0, sum);
}
