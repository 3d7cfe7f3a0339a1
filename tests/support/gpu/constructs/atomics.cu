// Atomics of other widths and types, and plain updates in their place.

#include <cuda_fp16.h>

#include "common.cuh"

#define UPDATE(NAME, STATEMENT) \
    KERNEL(NAME) { STATEMENT; }

UPDATE(half2_atomic, atomicAdd((__half2 *)data, __floats2half2_rn(1, 2)))
UPDATE(half2_plain, *(__half2 *)data = __hadd2(*(__half2 *)data, __floats2half2_rn(1, 2)))

UPDATE(half_atomic, atomicAdd((__half *)data, __float2half(1)))
UPDATE(half_plain, *(__half *)data = __hadd(*(__half *)data, __float2half(1)))

UPDATE(short_cas, unsigned short seen = 0; unsigned short old;
       do { old = seen; seen = atomicCAS((unsigned short *)data, old, (unsigned short)(old + 1)); } while (seen != old))
UPDATE(short_plain, *(unsigned short *)data += 1)

UPDATE(float_atomic, atomicAdd((float *)data, 1.0f))
UPDATE(float_plain, *(float *)data += 1.0f)

UPDATE(double_atomic, atomicAdd((double *)data, 1.0))
UPDATE(double_plain, *(double *)data += 1.0)

UPDATE(max_atomic, atomicMax(data, (int)blockIdx.x + 1))
UPDATE(max_plain, if (data[0] < (int)blockIdx.x + 1) data[0] = blockIdx.x + 1)

UPDATE(wide_atomic, atomicAdd((unsigned long long *)data, 1ull))
UPDATE(wide_plain, *(unsigned long long *)data += 1)

UPDATE(inc_atomic, atomicInc((unsigned *)data, 100))
UPDATE(inc_plain, data[0] = data[0] >= 100 ? 0 : data[0] + 1)
