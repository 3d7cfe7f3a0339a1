// Transposes of matrices of 1, 2, 4 ... rows and columns; the whole cache is flushed around each.
#include "program.h"
#include <vbx.h>

int main(int count, char **arguments)
{
    int largest = read_arguments(count, arguments, 1, 512), errors = 0;
    size_t room = (size_t)largest * largest * sizeof(int32_t);
    int32_t *in = cached_memory(room), *out = cached_memory(room);
    vbx_sp_t *column = vbx_sp_malloc(largest * sizeof(int32_t));
    uint32_t sum = 0;

    for (int n = 1; n <= largest; n *= 2) {
        size_t row = n * sizeof(int32_t);
        for (int i = 0; i < n * n; i++) {
            in[i] = noise(n + i);
            out[i] = 0;
        }
        if (has("flush-before"))
            vbx_dcache_flush_all();
        for (int x = 0; x < n; x++) {
            vbx_dma_to_vector_2D(column, in + x, sizeof(int32_t), n, sizeof(int32_t), row);
            vbx_dma_to_host(out + (size_t)x * n, column, row);
        }
        if (has("sync"))
            vbx_sync();
        sum = sum * 31 + checksum(out, n * n);
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                errors += in[y * n + x] != out[x * n + y];
        vbx_dcache_flush_all();
    }
    return result("mtx_xp", errors, sum);
}
