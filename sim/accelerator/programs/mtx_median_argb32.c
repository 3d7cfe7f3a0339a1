// 3x3 median filter of 32-bit pixels, in place, with 2-D DMA of three rows at a time.
#include "median.h"
#include "program.h"

int main(int count, char **arguments)
{
    int height = read_arguments(count, arguments, 4, 1080), width = height * 16 / 9;
    int outputs = width - 2;
    size_t row = width * sizeof(int32_t);
    int32_t *image = cached_memory(row * height);
    int32_t *rows = vbx_sp_malloc(3 * row);
    vbx_sp_t *vectors[9], *spare = vbx_sp_malloc(row);
    for (int i = 0; i < 9; i++)
        vectors[i] = vbx_sp_malloc(row);

    for (int i = 0; i < width * height; i++)
        image[i] = noise(i) & 0xffffff;
    if (has("flush"))
        vbx_dcache_flush(image, row * height);
    vbx_set_vl(outputs);
    for (int y = 0; y + 2 < height; y++) {
        vbx_dma_to_vector_2D(rows, image + y * width, row, 3, row, row);
        for (int i = 0; i < 9; i++)
            vbx(VVW, VMOV, vectors[i], (intptr_t)(rows + i / 3 * width + i % 3), NULL);
        sort_to_median(VVW, vectors, 9, spare);
        vbx_dma_to_host(image + y * width, vectors[4], outputs * sizeof(int32_t));
    }
    if (has("sync"))
        vbx_sync();
    return result("mtx_median_argb32", 0, checksum(image, width * height));
}
