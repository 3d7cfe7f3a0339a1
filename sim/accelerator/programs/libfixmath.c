// Fixed-point square root and division, by the CPU and by the vector engine.
#include "program.h"
#include <vbx.h>

static int32_t square_root(uint32_t value)
{
    uint32_t root = 0;
    for (uint32_t bit = 1u << 15; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= value)
            root |= bit;
    return (int32_t)root;
}

int main(int count, char **arguments)
{
    int n = read_arguments(count, arguments, 16, 1 << 20), errors = 0;
    size_t bytes = n * sizeof(int32_t);
    int32_t *scalar_in1 = cached_memory(bytes), *scalar_in2 = cached_memory(bytes);
    int32_t *scalar_out = cached_memory(bytes);
    int32_t *vector_out = shared_memory(bytes);
    vbx_sp_t *in1 = vbx_sp_malloc(bytes), *in2 = vbx_sp_malloc(bytes), *out = vbx_sp_malloc(bytes);

    for (int i = 0; i < n; i++) {
        scalar_in1[i] = noise(i) & 0x7fffffff;
        scalar_in2[i] = 1 + (noise(i + n) & 0xffff);
    }
    if (has("flush")) {
        vbx_dcache_flush(scalar_in1, bytes);
        vbx_dcache_flush(scalar_in2, bytes);
    }
    vbx_dma_to_vector(in1, scalar_in1, bytes);
    vbx_dma_to_vector(in2, scalar_in2, bytes);
    vbx_set_vl(n);
    vbx(VVW, VSQRT, out, (intptr_t)in1, NULL);
    vbx_dma_to_host(vector_out, out, bytes);
    for (int i = 0; i < n; i++)
        scalar_out[i] = square_root((uint32_t)scalar_in1[i]);
    if (has("root-sync"))
        vbx_sync();
    uint32_t sum = checksum(vector_out, n);
    for (int i = 0; i < n; i++)
        errors += vector_out[i] != scalar_out[i];

    vbx(VVW, VDIV, out, (intptr_t)in2, in1);
    vbx_dma_to_host(vector_out, out, bytes);
    for (int i = 0; i < n; i++)
        scalar_out[i] = scalar_in1[i] / scalar_in2[i];
    if (has("division-sync"))
        vbx_sync();
    sum = sum * 31 + checksum(vector_out, n);
    for (int i = 0; i < n; i++)
        errors += vector_out[i] != scalar_out[i];
    return result("libfixmath", errors, sum);
}
