// FIR filter on vectors, for six types of elements; the buffers are used again for each.
#include "program.h"
#include <vbx.h>

enum { TAPS = 4 };

static const int32_t taps[TAPS] = {3, -1, 4, 2};
static const vbx_mode vector_modes[3] = {VVW, VVH, VVB}, scalar_modes[3] = {SVW, SVH, SVB};

static void store(volatile void *array, int i, int bytes, int32_t value)
{
    if (bytes == 4)
        ((volatile int32_t *)array)[i] = value;
    else if (bytes == 2)
        ((volatile int16_t *)array)[i] = (int16_t)value;
    else
        ((volatile int8_t *)array)[i] = (int8_t)value;
}

static int32_t load(const volatile void *array, int i, int bytes)
{
    if (bytes == 4)
        return ((const volatile int32_t *)array)[i];
    if (bytes == 2)
        return ((const volatile int16_t *)array)[i];
    return ((const volatile int8_t *)array)[i];
}

int main(int count, char **arguments)
{
    int n = read_arguments(count, arguments, 16, 1 << 20), errors = 0;
    size_t room = n * sizeof(int32_t);
    void *scalar_in = cached_memory(room), *scalar_out = cached_memory(room);
    void *vector_in = shared_memory(room), *vector_out = shared_memory(room);
    char *in = vbx_sp_malloc(room), *out = vbx_sp_malloc(room), *product = vbx_sp_malloc(room);
    uint32_t sum = 0;

    for (int type = 0; type < 6; type++) {
        int size = 4 >> type % 3, is_unsigned = type >= 3, outputs = n - TAPS + 1;
        for (int i = 0; i < n; i++)
            store(scalar_in, i, size, is_unsigned ? noise(i) & 31 : noise(i) % 31);
        for (int i = 0; i < n; i++)
            store(vector_in, i, size, load(scalar_in, i, size));
        for (int i = 0; i < outputs; i++) {
            int32_t value = 0;
            for (int tap = 0; tap < TAPS; tap++)
                value += taps[tap] * load(scalar_in, i + tap, size);
            store(scalar_out, i, size, value);
        }
        vbx_dma_to_vector(in, vector_in, (size_t)n * size);
        vbx_set_vl(outputs);
        vbx(scalar_modes[type % 3], VMUL, out, taps[0], in);
        for (int tap = 1; tap < TAPS; tap++) {
            vbx(scalar_modes[type % 3], VMUL, product, taps[tap], in + tap * size);
            vbx(vector_modes[type % 3], VADD, out, (intptr_t)out, product);
        }
        vbx_dma_to_host(vector_out, out, (size_t)outputs * size);
        if (has(type == 5 ? "last-sync" : type == 2 ? "third-sync" : "sync"))
            vbx_sync();
        for (int i = 0; i < outputs; i++) {
            int32_t value = load(vector_out, i, size);
            sum = (sum ^ (uint32_t)value) * 0x01000193;
            errors += value != load(scalar_out, i, size);
        }
    }
    return result("vec_fir", errors, sum);
}
