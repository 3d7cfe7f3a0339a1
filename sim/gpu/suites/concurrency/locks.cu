// Spin locks: compare-and-swap and exchange, with fences of each scope, and what goes wrong.

#include "common.cuh"

template <Scope scope> static __device__ __forceinline__ int swap_if(int *p, int old, int now)
{
    return scope == BLOCK ? atomicCAS_block(p, old, now) : atomicCAS(p, old, now);
}

template <Scope scope> static __device__ __forceinline__ void exchange(int *p, int now)
{
    if (scope == BLOCK)
        atomicExch_block(p, now);
    else
        atomicExch(p, now);
}

template <Scope atomics, Scope first> static __device__ __forceinline__ void lock(int *p)
{
    while (swap_if<atomics>(p, 0, 1) != 0) {
    }
    fence<first>();
}

template <Scope atomics, Scope last> static __device__ __forceinline__ void unlock(int *p)
{
    fence<last>();
    exchange<atomics>(p, 0);
}

static __device__ __forceinline__ void increment(int *p) { poke(p, peek(p) + 1); }

// Lane 0 of every warp takes the lock once.
template <Scope atomics, Scope first, Scope last>
static __device__ __forceinline__ void locked_increment(int *data, int *sync)
{
    if (threadIdx.x % 32 == 0) {
        lock<atomics, first>(sync);
        increment(data);
        unlock<atomics, last>(sync);
    }
}

#define LOCK(NAME, ATOMICS, FIRST, LAST)                    \
    KERNEL(lock_##NAME)                                     \
    {                                                       \
        locked_increment<ATOMICS, FIRST, LAST>(data, sync); \
    }
LOCK(blocks, DEVICE, DEVICE, DEVICE)
LOCK(blocks_no_first_fence, DEVICE, NONE, DEVICE)
LOCK(blocks_no_last_fence, DEVICE, DEVICE, NONE)
LOCK(blocks_no_fences, DEVICE, NONE, NONE)
LOCK(blocks_block_fences, DEVICE, BLOCK, BLOCK)
LOCK(blocks_first_fence_block, DEVICE, BLOCK, DEVICE)
LOCK(blocks_last_fence_block, DEVICE, DEVICE, BLOCK)
LOCK(blocks_block_atomics, BLOCK, DEVICE, DEVICE)
LOCK(warps, BLOCK, BLOCK, BLOCK)
LOCK(warps_device, DEVICE, DEVICE, DEVICE)
LOCK(warps_no_first_fence, BLOCK, NONE, BLOCK)
LOCK(warps_no_last_fence, BLOCK, BLOCK, NONE)

KERNEL(lock_in_shared)
{
    __shared__ int word;
    __shared__ volatile int count;
    if (threadIdx.x == 0) {
        word = 0;
        count = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        lock<DEVICE, BLOCK>(&word);
        count = count + 1;
        unlock<DEVICE, BLOCK>(&word);
    }
}

KERNEL(lock_one_party)
{
    if (blockIdx.x == 0) {
        lock<DEVICE, DEVICE>(sync);
        increment(data);
        unlock<DEVICE, DEVICE>(sync);
    } else {
        poke(data, 9);
    }
}

KERNEL(lock_two_locks)
{
    lock<DEVICE, DEVICE>(sync + blockIdx.x);
    increment(data);
    unlock<DEVICE, DEVICE>(sync + blockIdx.x);
}

KERNEL(lock_two_locks_two_words)
{
    lock<DEVICE, DEVICE>(sync + blockIdx.x);
    increment(data + blockIdx.x);
    unlock<DEVICE, DEVICE>(sync + blockIdx.x);
}

KERNEL(lock_nested)
{
    lock<DEVICE, DEVICE>(sync);
    lock<DEVICE, DEVICE>(sync + 1);
    increment(data);
    unlock<DEVICE, DEVICE>(sync + 1);
    increment(data + 1);
    unlock<DEVICE, DEVICE>(sync);
}

// The outer locks differ: the word written after the inner one is freed has none in common.
KERNEL(lock_nested_inner_only)
{
    lock<DEVICE, DEVICE>(sync + 1 + blockIdx.x);
    lock<DEVICE, DEVICE>(sync);
    increment(data);
    unlock<DEVICE, DEVICE>(sync);
    increment(data + 1);
    unlock<DEVICE, DEVICE>(sync + 1 + blockIdx.x);
}

KERNEL(lock_hand_over_hand)
{
    lock<DEVICE, DEVICE>(sync);
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        lock<DEVICE, DEVICE>(sync + i + 1);
        increment(data + i);
        unlock<DEVICE, DEVICE>(sync + i);
    }
    unlock<DEVICE, DEVICE>(sync + 4);
}

KERNEL(lock_store_after_unlock)
{
    lock<DEVICE, DEVICE>(sync);
    increment(data);
    unlock<DEVICE, DEVICE>(sync);
    poke(data, 9);
}

KERNEL(unlock_by_store)
{
    lock<DEVICE, DEVICE>(sync);
    increment(data);
    __threadfence();
    poke(sync, 0);
}

KERNEL(unlock_by_store_unfenced)
{
    lock<DEVICE, DEVICE>(sync);
    increment(data);
    poke(sync, 0);
}

KERNEL(lock_weak_data)
{
    lock<DEVICE, DEVICE>(sync);
    data[0] += 1;
    unlock<DEVICE, DEVICE>(sync);
}

KERNEL(try_lock)
{
    if (atomicCAS(sync, 0, 1) == 0) {
        __threadfence();
        increment(data);
        unlock<DEVICE, DEVICE>(sync);
    }
}

KERNEL(try_lock_ignored)
{
    const bool mine = atomicCAS(sync, 0, 1) == 0;
    __threadfence();
    increment(data);
    if (mine)
        unlock<DEVICE, DEVICE>(sync);
}
