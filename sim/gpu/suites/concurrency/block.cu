// Warps of one block: barriers, shared memory, exchanges, buffers, reductions.

#include "common.cuh"

enum Between { NOTHING, WARP_BARRIER, BLOCK_FENCE, BARRIER, BARRIER_OR };

template <Between between> static __device__ __forceinline__ void step_between()
{
    if (between == WARP_BARRIER)
        __syncwarp();
    if (between == BLOCK_FENCE)
        __threadfence_block();
    if (between == BARRIER)
        __syncthreads();
    if (between == BARRIER_OR)
        __syncthreads_or(threadIdx.x == 0);
}

template <Between between> static __device__ __forceinline__ void exchange_shared(int *data)
{
    __shared__ int cells[64];
    const int t = threadIdx.x;
    cells[t] = t;
    step_between<between>();
    data[t] = cells[t ^ 32];
}

#define EXCHANGE_SHARED(NAME, BETWEEN)  \
    KERNEL(shared_exchange_##NAME)      \
    {                                   \
        exchange_shared<BETWEEN>(data); \
    }
EXCHANGE_SHARED(nothing, NOTHING)
EXCHANGE_SHARED(warp_barrier, WARP_BARRIER)
EXCHANGE_SHARED(fence, BLOCK_FENCE)
EXCHANGE_SHARED(barrier, BARRIER)
EXCHANGE_SHARED(barrier_or, BARRIER_OR)

KERNEL(global_exchange_barrier)
{
    const int t = threadIdx.x;
    data[t] = t;
    __syncthreads();
    data[64 + t] = data[t ^ 32];
}

KERNEL(global_exchange_nothing)
{
    const int t = threadIdx.x;
    poke(data + t, t);
    poke(data + 64 + t, peek(data + (t ^ 32)));
}

KERNEL(global_overwrite_nothing)
{
    if (threadIdx.x % 32 == 0)
        data[0] = threadIdx.x;
}

KERNEL(same_value_two_warps) { data[0] = 7; }

template <bool two_buffers, bool second_barrier>
static __device__ __forceinline__ void steps(int *data)
{
    __shared__ int cells[2][64];
    const int t = threadIdx.x;
    int value = t;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        int *buffer = cells[two_buffers ? i & 1 : 0];
        buffer[t] = value;
        __syncthreads();
        value += buffer[t ^ 32];
        if (second_barrier)
            __syncthreads();
    }
    data[t] = value;
}

KERNEL(double_buffer) { steps<true, false>(data); }
KERNEL(single_buffer) { steps<false, true>(data); }
KERNEL(single_buffer_reused) { steps<false, false>(data); }

// The tail runs in lockstep once only one warp is active: no barrier from `lockstep` lanes on.
template <int lockstep> static __device__ __forceinline__ void tree(int *data)
{
    __shared__ volatile int cells[128];
    const int t = threadIdx.x;
    cells[t] = t;
    __syncthreads();
#pragma unroll 1
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            cells[t] = cells[t] + cells[t + half];
        if (half > lockstep)
            __syncthreads();
    }
    if (t == 0)
        data[0] = cells[0];
}

KERNEL(tree_barriers) { tree<0>(data); }
KERNEL(tree_lockstep_tail) { tree<32>(data); }
KERNEL(tree_tail_too_early) { tree<64>(data); }

KERNEL(transpose_2d_barrier)
{
    __shared__ int tile[8][9];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x * threadIdx.y;
    __syncthreads();
    data[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL(transpose_2d_nothing)
{
    __shared__ volatile int tile[8][9];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x * threadIdx.y;
    data[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL(layers_3d_barrier)
{
    const int cell = (threadIdx.z * 4 + threadIdx.y) * 4 + threadIdx.x;
    data[cell] = cell;
    __syncthreads();
    data[128 + cell] = data[(cell + 48) % 64];
}

// A layer of 4 x 4 threads is half a warp, so every second layer's neighbour is in the same warp.
KERNEL(layers_3d_nothing)
{
    const int cell = (threadIdx.z * 4 + threadIdx.y) * 4 + threadIdx.x;
    poke(data + cell, cell);
    poke(data + 128 + cell, peek(data + (cell + 48) % 64));
}

KERNEL(rows_of_a_warp_2d)
{
    const int cell = threadIdx.y * 8 + threadIdx.x;
    poke(data + cell, cell);
    poke(data + 128 + cell, peek(data + (cell ^ 8)));
}

KERNEL(barrier_half_warp)
{
    if (threadIdx.x < 16) {
        data[threadIdx.x] = 1;
        __syncthreads();
        data[32 + threadIdx.x] = 2;
    }
    data[64 + threadIdx.x] = 3;
}

KERNEL(barrier_in_each_branch)
{
    if (threadIdx.x % 32 < 16) {
        poke(data + threadIdx.x, 1);
        __syncthreads();
        poke(data + 64 + threadIdx.x, 2);
    } else {
        poke(data + 128 + threadIdx.x, 3);
        __syncthreads();
        poke(data + 192 + threadIdx.x, 4);
    }
}

KERNEL(barrier_uneven_loop)
{
    for (unsigned i = 0; i <= threadIdx.x % 2; i++) {
        poke(data + threadIdx.x, i);
        __syncthreads();
    }
}

KERNEL(barrier_after_exit)
{
    const int t = threadIdx.x;
    if (t >= 48)
        asm volatile("exit;");
    data[t] = t;
    __syncthreads();
    data[64 + t] = data[t < 32 ? 32 + t % 16 : t - 32];
}

KERNEL(barrier_by_block)
{
    int *mine = data + 128 * blockIdx.x;
    const int t = threadIdx.x;
    mine[t] = t;
    if (blockIdx.x == 0) {
        __syncthreads();
        mine[64 + t] = mine[t ^ 32];
    }
}

KERNEL(barrier_partial_warp)
{
    const int t = threadIdx.x;
    data[t] = t;
    __syncthreads();
    data[64 + t] = data[39 - t];
}

KERNEL(dynamic_shared_barrier)
{
    extern __shared__ int cells_of_launch[];
    const int t = threadIdx.x;
    cells_of_launch[t] = t;
    __syncthreads();
    data[t] = cells_of_launch[63 - t];
}
