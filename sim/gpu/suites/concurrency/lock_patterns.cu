// Locks of another kind: one for each lane, for a whole block, by ticket, for readers and a writer.

#include "common.cuh"

static __device__ __forceinline__ void lock(int *p)
{
    while (atomicCAS(p, 0, 1) != 0) {
    }
    __threadfence();
}

static __device__ __forceinline__ void unlock(int *p)
{
    __threadfence();
    atomicExch(p, 0);
}

static __device__ __forceinline__ void increment(int *p) { poke(p, peek(p) + 1); }

// All lanes of a warp want one lock: the critical section lies inside the branch that won it.
template <Scope scope> static __device__ __forceinline__ void every_lane(int *data, int *p)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(p, 0, 1) == 0) {
            fence<scope>();
            increment(data);
            fence<scope>();
            atomicExch(p, 0);
            done = true;
        }
    }
}

KERNEL(lane_locks_one_warp) { every_lane<BLOCK>(data, sync); }
KERNEL(lane_locks_two_warps) { every_lane<BLOCK>(data, sync); }
KERNEL(lane_locks_by_hash) { every_lane<BLOCK>(data + threadIdx.x % 4, sync + threadIdx.x % 4); }

KERNEL(lane_locks_by_hash_unfenced)
{
    every_lane<NONE>(data + threadIdx.x % 4, sync + threadIdx.x % 4);
}

KERNEL(lane_locks_wrong_hash) { every_lane<BLOCK>(data + threadIdx.x % 4, sync + threadIdx.x / 4); }

// One thread locks for its whole block; barriers bring the others in.
template <bool last_barrier>
static __device__ __forceinline__ void lock_for_block(int *data, int *sync)
{
    const int t = threadIdx.x;
    if (t == 0)
        lock(sync);
    __syncthreads();
    increment(data + t);
    if (last_barrier)
        __syncthreads();
    if (t == 0)
        unlock(sync);
}

KERNEL(lock_for_whole_block) { lock_for_block<true>(data, sync); }
KERNEL(lock_freed_too_early) { lock_for_block<false>(data, sync); }

// Ticket lock: sync[0] counts tickets, sync[1] says who is served.
template <Scope last> static __device__ __forceinline__ void ticket_lock(int *data, int *sync)
{
    const int ticket = atomicAdd(sync, 1);
    int served;
    do {
        __threadfence();
        served = atomicAdd(sync + 1, 0);
        __threadfence();
    } while (served != ticket);
    increment(data);
    fence<last>();
    atomicAdd(sync + 1, 1);
    fence<last>();
}

KERNEL(ticket_lock_fenced) { ticket_lock<DEVICE>(data, sync); }
KERNEL(ticket_lock_unfenced) { ticket_lock<NONE>(data, sync); }

// sync[0]: number of readers, or -1 while a writer is in.  Block 0 writes, the others read.
template <bool readers_lock>
static __device__ __forceinline__ void readers_writer(int *data, int *sync)
{
    if (blockIdx.x == 0) {
        while (atomicCAS(sync, 0, -1) != 0) {
        }
        __threadfence();
        increment(data);
        unlock(sync);
        return;
    }
    if (readers_lock) {
        int seen = 0, was;
        while ((was = atomicCAS(sync, seen, seen + 1)) != seen)
            seen = was < 0 ? 0 : was;
        __threadfence();
    }
    poke(data + 32 + blockIdx.x, peek(data));
    if (readers_lock) {
        __threadfence();
        atomicSub(sync, 1);
        __threadfence();
    }
}

KERNEL(readers_and_writer) { readers_writer<true>(data, sync); }
KERNEL(reader_without_lock) { readers_writer<false>(data, sync); }
