// 5x5 median filter of bytes.
#include "median.h"
#include "program.h"

int main(int count, char **arguments)
{
    int height = read_arguments(count, arguments, 6, 1024), width = 2 * height;
    int outputs = width - 4;
    int8_t *image = cached_memory((size_t)width * height);
    int8_t *filtered = cached_memory((size_t)width * height);
    int8_t *rows = vbx_sp_malloc((size_t)5 * width);
    vbx_sp_t *vectors[25], *spare = vbx_sp_malloc(width);
    for (int i = 0; i < 25; i++)
        vectors[i] = vbx_sp_malloc(width);

    for (int i = 0; i < width * height; i++) {
        image[i] = (int8_t)noise(i);
        filtered[i] = 0;
    }
    if (has("flush-input"))
        vbx_dcache_flush(image, (size_t)width * height);
    if (has("flush-output"))
        vbx_dcache_flush(filtered, (size_t)width * height);
    vbx_set_vl(outputs);
    for (int y = 0; y + 4 < height; y++) {
        vbx_dma_to_vector_2D(rows, image + y * width, width, 5, width, width);
        for (int i = 0; i < 25; i++)
            vbx(VVB, VMOV, vectors[i], (intptr_t)(rows + i / 5 * width + i % 5), NULL);
        sort_to_median(VVB, vectors, 25, spare);
        vbx_dma_to_host(filtered + (y + 2) * width + 2, vectors[12], outputs);
    }
    if (has("sync"))
        vbx_sync();
    return result("mtx_median", 0, checksum((int32_t *)filtered, width * height / 4));
}
