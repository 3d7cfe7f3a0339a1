// Vector addition, once by the CPU and once by the vector engine.
#include "program.h"
#include <vbx.h>

static void zero(volatile int32_t *array, int n)
{
    for (int i = 0; i < n; i++)
        array[i] = 0;
}

static void init(int32_t *array, int n, int factor)
{
    for (int i = 0; i < n; i++)
        array[i] = factor * i + 1;
}

static void copy(volatile int32_t *to, const int32_t *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

int main(int count, char **arguments)
{
    int n = read_arguments(count, arguments, 16, 1 << 20), errors = 0;
    size_t bytes = n * sizeof(int32_t);
    int32_t *scalar_in1 = cached_memory(bytes);
    int32_t *scalar_in2 = cached_memory(bytes);
    int32_t *scalar_out = cached_memory(bytes);
    int32_t *vector_in1 = shared_memory(bytes);
    int32_t *vector_in2 = shared_memory(bytes);
    int32_t *vector_out = shared_memory(bytes);
    vbx_sp_t *in1 = vbx_sp_malloc(bytes), *in2 = vbx_sp_malloc(bytes), *out = vbx_sp_malloc(bytes);

    zero(scalar_out, n);
    zero(vector_out, n);
    init(scalar_in1, n, 1);
    copy(vector_in1, scalar_in1, n);
    init(scalar_in2, n, 3);
    copy(vector_in2, scalar_in2, n);
    for (int i = 0; i < n; i++)
        scalar_out[i] = scalar_in1[i] + scalar_in2[i];

    vbx_dma_to_vector(in1, vector_in1, bytes);
    vbx_dma_to_vector(in2, vector_in2, bytes);
    vbx_set_vl(n);
    vbx(VVW, VADD, out, (intptr_t)in1, in2);
    vbx_dma_to_host(vector_out, out, bytes);
    if (has("sync"))
        vbx_sync();
    uint32_t sum = checksum(vector_out, n);
    for (int i = 0; i < n; i++)
        errors += vector_out[i] != scalar_out[i];
    return result("vec_add", errors, sum);
}
