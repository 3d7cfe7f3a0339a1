// Blocks of an SD card, read by DMA into a buffer on a task's stack.
//
// The stack frame is written down as a structure: the buffer begins and ends within lines that
// also hold other variables of the function.  So the DMA goes to an aligned buffer.
#include "program.h"
#include <core_cm7.h>
#include <string.h>

enum { SDMMC = 0, BLOCK = 128 };

struct frame {
    volatile uint32_t blocks_left;
    uint8_t buffer[BLOCK];
    volatile uint32_t checksum;
};

static uint8_t task_stack[1024] __attribute__((aligned(LINE)));
static uint8_t aligned_buffer[BLOCK] __attribute__((aligned(LINE)));
static uint8_t card[BLOCK];

static void read_card(void *block)
{
    for (int i = 0; i < BLOCK; i++)
        card[i] = (uint8_t)noise(*(int *)block * BLOCK + i);
}

static void start_read(uint8_t *target, int block)
{
    racetrap_device_run(SDMMC, read_card, &block, sizeof block);
    racetrap_dma_write(SDMMC, target, card, BLOCK);
}

int main(int count, char **arguments)
{
    int blocks = read_arguments(count, arguments, 2, 1 << 20);
    struct frame *frame = (struct frame *)(task_stack + 512);
    uint8_t *target = has("bounce") ? aligned_buffer : frame->buffer;

    frame->checksum = 0x811c9dc5;
    frame->blocks_left = (uint32_t)blocks;
    while (frame->blocks_left) {
        start_read(target, blocks - (int)frame->blocks_left);
        frame->blocks_left--;
        if (has("wait"))
            racetrap_sync(SDMMC);
        if (has("invalidate"))
            SCB_InvalidateDCache_by_Addr(target, BLOCK);
        if (has("bounce"))
            memcpy(frame->buffer, aligned_buffer, BLOCK);
        uint32_t sum = frame->checksum;
        for (int i = 0; i < BLOCK; i++)
            sum = (sum ^ frame->buffer[i]) * 0x01000193;
        frame->checksum = sum;
    }
    racetrap_sync(SDMMC);
    return result("sd_read", 0, frame->checksum);
}
