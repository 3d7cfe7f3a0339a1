// Elements to the power of an exponent, by repeated multiplication, for two exponents.
#include "program.h"
#include <vbx.h>

static int32_t power(int32_t base, int exponent)
{
    uint32_t product = 1;
    for (int i = 0; i < exponent; i++)
        product *= (uint32_t)base;
    return (int32_t)product;
}

static void vector_power(vbx_sp_t *out, vbx_sp_t *in, int exponent)
{
    vbx(SVW, VMOV, out, 1, NULL);
    for (int i = 0; i < exponent; i++)
        vbx(VVW, VMUL, out, (intptr_t)out, in);
}

int main(int count, char **arguments)
{
    int n = read_arguments(count, arguments, 16, 1 << 20), errors = 0;
    size_t bytes = n * sizeof(int32_t);
    int32_t *scalar_in = cached_memory(bytes), *scalar_out = cached_memory(bytes);
    int32_t *vector_in = shared_memory(bytes), *vector_out = shared_memory(bytes);
    vbx_sp_t *in = vbx_sp_malloc(bytes), *out = vbx_sp_malloc(bytes);
    uint32_t sum = 0;

    for (int i = 0; i < n; i++)
        scalar_in[i] = noise(i) % 100;
    for (int i = 0; i < n; i++)
        vector_in[i] = scalar_in[i];
    vbx_set_vl(n);
    for (int round = 0; round < 2; round++) {
        int exponent = 3 + 2 * round;
        for (int i = 0; i < n; i++)
            scalar_out[i] = power(scalar_in[i], exponent);
        vbx_dma_to_vector(in, vector_in, bytes);
        vector_power(out, in, exponent);
        vbx_dma_to_host(vector_out, out, bytes);
        if (has(round ? "second-sync" : "first-sync"))
            vbx_sync();
        sum = sum * 31 + checksum(vector_out, n);
        for (int i = 0; i < n; i++)
            errors += vector_out[i] != scalar_out[i];
    }
    return result("vec_power", errors, sum);
}
