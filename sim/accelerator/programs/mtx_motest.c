// Motion estimation: the sums of absolute differences of a block at all places of a window.
#include "program.h"
#include <vbx.h>

int main(int count, char **arguments)
{
    int block = read_arguments(count, arguments, 4, 16), window = 4 * block, width = 16 * block;
    int places = window - block + 1, errors = 0;
    size_t result_bytes = (size_t)places * places * sizeof(int32_t);
    size_t frame_bytes = (size_t)width * width;
    int32_t *vector_result = shared_memory(result_bytes);
    int8_t *scalar_frame = cached_memory(frame_bytes);
    int32_t *scalar_result = cached_memory(result_bytes);
    int8_t *vector_frame = shared_memory(frame_bytes);
    int8_t *reference = vbx_sp_malloc((size_t)block * block);
    int8_t *search = vbx_sp_malloc((size_t)window * window);
    int8_t *strip = vbx_sp_malloc((size_t)block * block);
    int32_t *sums = vbx_sp_malloc(places * sizeof(int32_t));

    for (size_t i = 0; i < frame_bytes; i++)
        vector_frame[i] = (int8_t)(noise(i) & 15);
    vbx_dma_to_vector_2D(reference, vector_frame + (size_t)2 * block * width + 2 * block, block,
                         block, block, width);
    vbx_dma_to_vector_2D(search, vector_frame + (size_t)block * width + block, window, window,
                         window, width);
    for (size_t i = 0; i < frame_bytes; i++)
        scalar_frame[i] = (int8_t)(noise(i) & 15);
    for (int y = 0; y < places; y++) {
        for (int x = 0; x < places; x++) {
            vbx_set_vl(block);
            vbx_set_2D(block, block, block, window);
            vbx_2D(VVB, VABSDIFF, strip, (intptr_t)reference, search + y * window + x);
            vbx_set_vl(block * block / 4);
            // Differences are below 16: four bytes are added at a time, in words of four sums.
            vbx_acc(VVW, VMOV, sums + x, (intptr_t)strip, NULL);
        }
        vbx_dma_to_host(vector_result + y * places, sums, places * sizeof(int32_t));
    }
    for (int y = 0; y < places; y++)
        for (int x = 0; x < places; x++) {
            uint32_t sum = 0;
            for (int dy = 0; dy < block; dy++)
                for (int dx = 0; dx < block; dx++) {
                    int one = scalar_frame[(2 * block + dy) * width + 2 * block + dx];
                    int other = scalar_frame[(block + y + dy) * width + block + x + dx];
                    sum += (uint32_t)abs(one - other) << 8 * (dx % 4);
                }
            scalar_result[y * places + x] = (int32_t)sum;
        }
    if (has("sync"))
        vbx_sync();
    uint32_t sum = checksum(vector_result, places * places);
    for (int i = 0; i < places * places; i++)
        errors += vector_result[i] != scalar_result[i];
    return result("mtx_motest", errors, sum);
}
