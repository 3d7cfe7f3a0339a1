// 2-D FIR filter with 3x3 taps: rows are fetched ahead, and one row at a time is written back.
#include "program.h"
#include <vbx.h>

static const int32_t taps[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

int main(int count, char **arguments)
{
    int n = read_arguments(count, arguments, 8, 1024), width = n, height = n, errors = 0;
    int outputs = width - 2;
    size_t row = width * sizeof(int32_t), out_row = outputs * sizeof(int32_t);
    int32_t *image = cached_memory(row * height), *scalar_out = cached_memory(out_row * (height - 2));
    int32_t *vector_out = shared_memory(out_row * (height - 2));
    int32_t *rows[4], *total = vbx_sp_malloc(out_row), *product = vbx_sp_malloc(out_row);
    for (int i = 0; i < 4; i++)
        rows[i] = vbx_sp_malloc(row);

    for (int i = 0; i < width * height; i++)
        image[i] = noise(i) & 255;
    if (has("flush"))
        vbx_dcache_flush(image, row * height);
    for (int y = 0; y < 3; y++)
        vbx_dma_to_vector(rows[y], image + y * width, row);
    vbx_set_vl(outputs);
    for (int y = 0; y < height - 2; y++) {
        if (y + 3 < height)
            vbx_dma_to_vector(rows[(y + 3) % 4], image + (y + 3) * width, row);
        vbx(SVW, VMOV, total, 0, NULL);
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++) {
                vbx(SVW, VMUL, product, taps[dy][dx], rows[(y + dy) % 4] + dx);
                vbx(VVW, VADD, total, (intptr_t)total, product);
            }
        vbx_dma_to_host(vector_out + y * outputs, total, out_row);
    }
    for (int y = 0; y < height - 2; y++)
        for (int x = 0; x < outputs; x++) {
            int32_t value = 0;
            for (int dy = 0; dy < 3; dy++)
                for (int dx = 0; dx < 3; dx++)
                    value += taps[dy][dx] * image[(y + dy) * width + x + dx];
            scalar_out[y * outputs + x] = value;
        }
    if (has("sync"))
        vbx_sync();
    uint32_t sum = checksum(vector_out, outputs * (height - 2));
    for (int i = 0; i < outputs * (height - 2); i++)
        errors += vector_out[i] != scalar_out[i];
    return result("mtx_fir", errors, sum);
}
