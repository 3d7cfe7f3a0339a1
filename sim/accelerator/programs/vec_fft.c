// FFT of complex fixed-point numbers, radix 2; the twiddle factors lie in shared memory.
#include "program.h"
#include <math.h>
#include <vbx.h>

enum { FRACTION = 14 };

static int reversed(int number, int bits)
{
    int turned = 0;
    for (int bit = 0; bit < bits; bit++)
        turned |= (number >> bit & 1) << (bits - 1 - bit);
    return turned;
}

int main(int count, char **arguments)
{
    int bits = read_arguments(count, arguments, 3, 14), n = 1 << bits;
    size_t bytes = n * sizeof(int32_t);
    int32_t *input = cached_memory(2 * bytes);                // real, then imaginary parts
    int32_t *twiddles = shared_memory(2 * bytes);             // of all stages
    int32_t *output = shared_memory(2 * bytes);
    int32_t *re = vbx_sp_malloc(bytes), *im = vbx_sp_malloc(bytes);
    int32_t *cosine = vbx_sp_malloc(bytes), *sine = vbx_sp_malloc(bytes);
    int32_t *tr = vbx_sp_malloc(bytes), *ti = vbx_sp_malloc(bytes), *t = vbx_sp_malloc(bytes);

    for (int i = 0; i < n; i++) {
        int from = reversed(i, bits);
        input[i] = noise(from) % 1000;
        input[n + i] = noise(n + from) % 1000;
    }
    for (int half = 1; half < n; half *= 2)
        for (int k = 0; k < half; k++) {
            double angle = -3.14159265358979323846 * k / half;
            twiddles[half + k] = (int32_t)lrint(cos(angle) * (1 << FRACTION));
            twiddles[n + half + k] = (int32_t)lrint(sin(angle) * (1 << FRACTION));
        }
    if (has("flush"))
        vbx_dcache_flush(input, 2 * bytes);
    vbx_dma_to_vector(re, input, bytes);
    vbx_dma_to_vector(im, input + n, bytes);
    vbx_dma_to_vector(cosine, twiddles, bytes);
    vbx_dma_to_vector(sine, twiddles + n, bytes);
    for (int half = 1; half < n; half *= 2) {
        vbx_set_vl(half);
        for (int at = 0; at < n; at += 2 * half) {
            int32_t *lower = re + at + half, *lower_im = im + at + half;
            vbx(VVW, VMUL, tr, (intptr_t)lower, cosine + half);
            vbx(VVW, VMUL, t, (intptr_t)lower_im, sine + half);
            vbx(VVW, VSUB, tr, (intptr_t)tr, t);
            vbx(SVW, VSHR, tr, FRACTION, tr);
            vbx(VVW, VMUL, ti, (intptr_t)lower, sine + half);
            vbx(VVW, VMUL, t, (intptr_t)lower_im, cosine + half);
            vbx(VVW, VADD, ti, (intptr_t)ti, t);
            vbx(SVW, VSHR, ti, FRACTION, ti);
            vbx(VVW, VSUB, lower, (intptr_t)(re + at), tr);
            vbx(VVW, VSUB, lower_im, (intptr_t)(im + at), ti);
            vbx(VVW, VADD, re + at, (intptr_t)(re + at), tr);
            vbx(VVW, VADD, im + at, (intptr_t)(im + at), ti);
        }
    }
    vbx_dma_to_host(output, re, bytes);
    vbx_dma_to_host(output + n, im, bytes);
    if (has("sync"))
        vbx_sync();
    return result("vec_fft", 0, checksum(output, 2 * n));
}
