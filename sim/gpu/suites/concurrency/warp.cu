// Threads of one warp: same-value stores, branch ordering, lockstep, shuffles, calls.

#include "common.cuh"

KERNEL(warp_same_value_global) { data[0] = 7; }
KERNEL(warp_different_values_global) { data[0] = threadIdx.x; }

KERNEL(warp_same_value_shared)
{
    __shared__ volatile int cell;
    cell = 7;
    data[threadIdx.x] = cell;
}

KERNEL(warp_different_values_shared)
{
    __shared__ volatile int cell;
    cell = threadIdx.x;
    data[threadIdx.x] = cell;
}

KERNEL(branch_write_write)
{
    if (threadIdx.x < 16)
        poke(data, 1);
    else
        poke(data, 2);
}

KERNEL(branch_same_value)
{
    if (threadIdx.x < 16) {
        poke(data + 1, 6);
        poke(data, 5);
        poke(data + 3, 6);
    } else {
        poke(data + 2, 7);
        poke(data, 5);
        poke(data + 4, 7);
    }
}

KERNEL(branch_write_read)
{
    const int t = threadIdx.x;
    if (t < 16)
        poke(data, 1);
    else
        data[32 + t] = peek(data);
}

KERNEL(branch_disjoint)
{
    const int t = threadIdx.x;
    if (t < 16)
        poke(data + t, 1);
    else
        data[32 + t] = peek(data + t);
}

KERNEL(branch_reconverged)
{
    const int t = threadIdx.x;
    if (t == 0)
        poke(data, 1);
    __syncwarp();
    data[32 + t] = peek(data);
}

KERNEL(branch_nested_race)
{
    const int t = threadIdx.x;
    if (t < 16) {
        if (t < 8)
            poke(data, 1);
        else
            poke(data + t, 2);
    } else {
        data[32 + t] = peek(data);
    }
}

KERNEL(branch_nested_reconverged)
{
    const int t = threadIdx.x;
    if (t < 16) {
        if (t < 8)
            poke(data + t, 1);
        __syncwarp(0xffff);
        poke(data + 32 + t, peek(data + (t ^ 8)));
    } else {
        poke(data + 64 + t, 2);
    }
}

KERNEL(branch_three_ways)
{
    switch (threadIdx.x % 3) {
    case 0:
        poke(data, 1);
        break;
    case 1:
        poke(data + 1, 2);
        poke(data + 4, 2);
        break;
    default:
        poke(data + 2, peek(data));
    }
}

KERNEL(loop_own_word)
{
    const int t = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i <= t; i++)
        poke(data + t, i);
}

KERNEL(loop_word_of_iteration)
{
    const int t = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i <= t; i++)
        poke(data + i, t);
}

KERNEL(loop_same_value)
{
    const int t = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i <= t; i++)
        poke(data, i);
}

KERNEL(loop_break_store)
{
    const int t = threadIdx.x;
    int seen = 0;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        if (i == t) {
            poke(data, t);
            break;
        }
        seen += peek(data);
    }
    data[32 + t] = seen;
}

KERNEL(lockstep_neighbour)
{
    __shared__ volatile int cells[32];
    const int t = threadIdx.x;
    cells[t] = t;
    data[t] = cells[t ^ 1];
}

KERNEL(lockstep_partial_warp)
{
    const int t = threadIdx.x;
    poke(data + t, t);
    poke(data + 64 + t, peek(data + (t + 1) % 20));
}

KERNEL(lockstep_after_exit)
{
    const int t = threadIdx.x;
    if (t >= 16)
        asm volatile("exit;");
    poke(data + t, t);
    poke(data + 64 + t, peek(data + (t ^ 1)));
}

KERNEL(shuffle_exchange)
{
    const int t = threadIdx.x;
    data[t] = __shfl_xor_sync(0xffffffff, t * t, 1);
}

KERNEL(ballot_leader)
{
    const int t = threadIdx.x;
    const unsigned odd = __ballot_sync(0xffffffff, t & 1);
    if (t == __ffs(odd) - 1)
        data[0] = odd;
}

static __device__ __forceinline__ void predicated_store(int *p, int v, bool guard)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1; }" ::"l"(p),
                 "r"(v), "r"((int)guard)
                 : "memory");
}

KERNEL(predicated_one_lane) { predicated_store(data, threadIdx.x, threadIdx.x == 3); }
KERNEL(predicated_two_lanes) { predicated_store(data, threadIdx.x, threadIdx.x / 2 == 3); }

static __device__ __forceinline__ void put_inlined(int *p, int v) { *(volatile int *)p = v; }
static __device__ __noinline__ void put_called(int *p, int v) { *(volatile int *)p = v; }

KERNEL(call_inlined_own_word) { put_inlined(data + threadIdx.x, 1); }
KERNEL(call_own_word) { put_called(data + threadIdx.x, 1); }
KERNEL(call_one_word) { put_called(data, threadIdx.x); }

KERNEL(call_in_both_branches)
{
    if (threadIdx.x < 16) {
        put_called(data, 1);
        put_called(data + 1, 1);
    } else {
        put_called(data, 1);
        put_called(data + 2, 1);
    }
}

KERNEL(warp_atomics) { atomicAdd(data, threadIdx.x); }

KERNEL(warp_atomic_then_read)
{
    atomicAdd(data, threadIdx.x);
    poke(data + 32 + threadIdx.x, peek(data));
}

KERNEL(branch_atomic_store)
{
    if (threadIdx.x < 16)
        atomicAdd(data, 1);
    else
        poke(data, 2);
}
