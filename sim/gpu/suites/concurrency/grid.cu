// Blocks of a grid: barriers made of atomics, the last block, rings, lists, own and common data.

#include "common.cuh"

template <Scope scope> static __device__ __forceinline__ int add(int *p, int v)
{
    return scope == BLOCK ? atomicAdd_block(p, v) : atomicAdd(p, v);
}

template <Scope atomics, Scope fences>
static __device__ __forceinline__ void await(int *count, int value)
{
    int seen;
    do {
        fence<fences>();
        seen = add<atomics>(count, 0);
        fence<fences>();
    } while (seen < value);
}

// One thread of each block counts it in and waits until all `target` have come.
template <Scope atomics, Scope fences>
static __device__ __forceinline__ void arrive_and_wait(int *count, int target)
{
    fence<fences>();
    add<atomics>(count, 1);
    await<atomics, fences>(count, target);
}

template <Scope atomics, Scope fences, bool before, bool after>
static __device__ __forceinline__ void grid_barrier(int *count, int target)
{
    if (before)
        __syncthreads();
    if (threadIdx.x == 0)
        arrive_and_wait<atomics, fences>(count, target);
    if (after)
        __syncthreads();
}

template <Scope atomics, Scope fences, bool before, bool after>
static __device__ __forceinline__ void exchange_blocks(int *data, int *sync)
{
    const int threads = blockDim.x * gridDim.x;
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    poke(data + t, t);
    grid_barrier<atomics, fences, before, after>(sync, gridDim.x);
    poke(data + 512 + t, peek(data + (t + blockDim.x) % threads));
}

#define GRID_BARRIER(NAME, ATOMICS, FENCES, BEFORE, AFTER)           \
    KERNEL(grid_barrier_##NAME)                                      \
    {                                                                \
        exchange_blocks<ATOMICS, FENCES, BEFORE, AFTER>(data, sync); \
    }
GRID_BARRIER(right, DEVICE, DEVICE, true, true)
GRID_BARRIER(unfenced, DEVICE, NONE, true, true)
GRID_BARRIER(block_fences, DEVICE, BLOCK, true, true)
GRID_BARRIER(block_atomics, BLOCK, DEVICE, true, true)
GRID_BARRIER(no_barrier_before, DEVICE, DEVICE, false, true)
GRID_BARRIER(no_barrier_after, DEVICE, DEVICE, true, false)

template <bool second_barrier> static __device__ __forceinline__ void phases(int *data, int *sync)
{
    const int b = blockIdx.x, next = (blockIdx.x + 1) % gridDim.x;
    int value = b, target = 0;
#pragma unroll 1
    for (int i = 0; i < 3; i++) {
        poke(data + b, value);
        arrive_and_wait<DEVICE, DEVICE>(sync, target += gridDim.x);
        value += peek(data + next);
        if (second_barrier)
            arrive_and_wait<DEVICE, DEVICE>(sync, target += gridDim.x);
    }
    poke(data + 512 + b, value);
}

KERNEL(grid_phases) { phases<true>(data, sync); }
KERNEL(grid_phases_reuse) { phases<false>(data, sync); }

KERNEL(block_barriers_only)
{
    poke(data + blockIdx.x, 1);
    __syncthreads();
    poke(data + 512 + blockIdx.x, peek(data + 1 - blockIdx.x));
}

// Launched twice: the end of a launch orders all that was in it.
KERNEL(two_launches)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    data[t] = data[t] + 1;
    if (data[t] == 2)
        data[512 + t] = 1;
}

// Each block adds up its part; the last to take a ticket adds up the parts.
template <Scope before, Scope after, bool barrier>
static __device__ __forceinline__ void last_block_sum(int *data, int *sync)
{
    enum { UNDECIDED, NOT_LAST, LAST };
    __shared__ volatile int decision;
    const int t = threadIdx.x, blocks = gridDim.x;
    if (t == 0)
        decision = UNDECIDED;
    __syncthreads();
    if (t == 0) {
        poke(data + blockIdx.x, blockIdx.x + 1);
        fence<before>();
        const int ticket = atomicAdd(sync, 1);
        fence<after>();
        data[64 + blockIdx.x] = ticket;
        decision = ticket == blocks - 1 ? LAST : NOT_LAST;
    }
    if (barrier)
        __syncthreads();
    if (t == 32) {
        int answer, sum = 0;
        while ((answer = decision) == UNDECIDED) {
        }
        if (answer == NOT_LAST)
            return;
#pragma unroll 1
        for (int i = 0; i < blocks; i++)
            sum += peek(data + i);
        poke(data + 512, sum);
    }
}

#define LAST_BLOCK(NAME, BEFORE, AFTER, BARRIER)            \
    KERNEL(last_block_##NAME)                               \
    {                                                       \
        last_block_sum<BEFORE, AFTER, BARRIER>(data, sync); \
    }
LAST_BLOCK(right, DEVICE, DEVICE, true)
LAST_BLOCK(fence_before_only, DEVICE, NONE, true)
LAST_BLOCK(fence_after_only, NONE, DEVICE, true)
LAST_BLOCK(unfenced, NONE, NONE, true)
LAST_BLOCK(block_fences, BLOCK, BLOCK, true)
LAST_BLOCK(no_barrier, DEVICE, DEVICE, false)

// Ring of four slots from block 0 to block 1: sync[0] counts what is full, sync[32] what is free.
template <Scope producer, Scope consumer>
static __device__ __forceinline__ void ring(int *data, int *sync)
{
    int *full = sync, *taken = sync + 32;
#pragma unroll 1
    for (int i = 0; i < 10; i++) {
        if (blockIdx.x == 0) {
            await<DEVICE, producer>(taken, i - 3);
            poke(data + i % 4, peek(data + i % 4) + i);
            fence<producer>();
            atomicExch(full, i + 1);
        } else {
            await<DEVICE, consumer>(full, i + 1);
            poke(data + 64 + i, peek(data + i % 4));
            fence<consumer>();
            atomicExch(taken, i + 1);
        }
    }
}

KERNEL(ring_right) { ring<DEVICE, DEVICE>(data, sync); }
KERNEL(ring_producer_unfenced) { ring<NONE, DEVICE>(data, sync); }
KERNEL(ring_consumer_unfenced) { ring<DEVICE, NONE>(data, sync); }

// List of nodes linked by index (0: end): block b pushes node b + 1; block 0 takes all when all
// are in.
template <Scope scope> static __device__ __forceinline__ void list(int *data, int *head)
{
    const int node = blockIdx.x + 1;
    int seen = 0, was;
    poke(data + 2 * node + 1, 100 + node);
    for (;;) {
        poke(data + 2 * node, seen);
        fence<scope>();
        was = atomicCAS(head, seen, node);
        fence<scope>();
        if (was == seen)
            break;
        seen = was;
    }
    atomicAdd(head + 1, 1);
    if (blockIdx.x)
        return;
    while (atomicAdd(head + 1, 0) < gridDim.x) {
    }
    fence<scope>();
    int walk = atomicExch(head, 0);
    fence<scope>();
    int sum = 0;
    while (walk) {
        sum += peek(data + 2 * walk + 1);
        walk = peek(data + 2 * walk);
    }
    poke(data + 512, sum);
}

KERNEL(list_push_fenced) { list<DEVICE>(data, sync); }
KERNEL(list_push_unfenced) { list<NONE>(data, sync); }

KERNEL(private_words)
{
    int *mine = data + blockIdx.x * blockDim.x + threadIdx.x;
    poke(mine, 1);
    poke(mine, peek(mine) + 1);
}

KERNEL(common_reads)
{
    data[512 + blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x] + data[0];
}

KERNEL(same_value_two_blocks) { data[0] = 7; }

KERNEL(stencil_over_blocks)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    poke(data + t + 1, t);
    poke(data + 512 + t, peek(data + t));
}

// The compiler reads through the read-only path what another block writes.
extern "C" __global__ void read_only_path(const int *__restrict__ data, int *sync)
{
    if (blockIdx.x == 0)
        sync[0] = 1;
    else
        sync[32] = __ldg(sync) + data[0];
}

KERNEL(halves_of_a_word_blocks) { ((volatile short *)data)[blockIdx.x] = 1; }

KERNEL(grid_of_three_dimensions)
{
    const int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    data[b] = b;
}

KERNEL(grid_columns_collide) { data[blockIdx.x] = blockIdx.y; }
