// Warps of one block: bytes, halves and vectors of neighbouring words, and histograms.

#include "common.cuh"

KERNEL(bytes_of_a_word) { ((volatile char *)data)[threadIdx.x / 32] = (char)(threadIdx.x / 32); }
KERNEL(halves_of_a_word) { ((volatile short *)data)[threadIdx.x / 32] = (short)(threadIdx.x / 32); }

KERNEL(byte_inside_a_word)
{
    if (threadIdx.x == 0)
        poke(data, 1);
    if (threadIdx.x == 32)
        ((volatile char *)data)[2] = 1;
}

KERNEL(vectors_side_by_side)
{
    if (threadIdx.x == 0)
        *(int4 *)data = make_int4(1, 2, 3, 4);
    if (threadIdx.x == 32)
        data[4] = 5;
}

KERNEL(vector_over_a_word)
{
    if (threadIdx.x == 0)
        *(int4 *)data = make_int4(1, 2, 3, 4);
    if (threadIdx.x == 32)
        data[3] = 5;
}

KERNEL(shared_histogram_atomic)
{
    __shared__ int bins[8];
    const int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[t * t % 8], 1);
    __syncthreads();
    if (t < 8)
        data[t] = bins[t];
}

KERNEL(shared_histogram_plain)
{
    __shared__ volatile int bins[8];
    const int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    __syncthreads();
    bins[t % 8] = bins[t % 8] + 1 + t;
    __syncthreads();
    if (t < 8)
        data[t] = bins[t];
}

KERNEL(shared_histogram_no_barrier)
{
    __shared__ int bins[8];
    const int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    atomicAdd(&bins[t % 8], 1);
    __syncthreads();
    if (t < 8)
        data[t] = bins[t];
}
