// Atomics against atomics of each scope, and against plain, volatile and wider accesses.

#include "common.cuh"

// Two actors: lane 0 of the first and of the last warp of the grid.
static __device__ __forceinline__ bool first_actor() { return blockIdx.x == 0 && threadIdx.x == 0; }
static __device__ __forceinline__ bool second_actor()
{
    return blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 32;
}

#define PAIR(NAME, ONE, OTHER)       \
    KERNEL(NAME)                     \
    {                                \
        if (first_actor()) {         \
            ONE;                     \
        } else if (second_actor()) { \
            OTHER;                   \
        }                            \
    }

PAIR(atomics_blocks_device, atomicAdd(data, 1), atomicExch(data, 2))
PAIR(atomics_blocks_block, atomicAdd_block(data, 1), atomicExch_block(data, 2))
PAIR(atomics_blocks_mixed, atomicAdd(data, 1), atomicExch_block(data, 2))
PAIR(atomics_blocks_system, atomicAdd_system(data, 1), atomicMax(data, 2))
PAIR(atomics_warps_block, atomicAdd_block(data, 1), atomicExch_block(data, 2))
PAIR(atomics_warps_mixed, atomicAdd(data, 1), atomicExch_block(data, 2))
PAIR(atomic_store_blocks, atomicAdd(data, 1), data[0] = 2)
PAIR(atomic_store_warps, atomicAdd(data, 1), data[0] = 2)
PAIR(atomic_load_blocks, atomicAdd(data, 1), data[32] = data[0])
PAIR(atomic_volatile_store_blocks, atomicAdd(data, 1), poke(data, 2))
PAIR(atomic_volatile_load_blocks, atomicAdd(data, 1), poke(data + 32, peek(data)))
PAIR(atomic_load_warps_block_scope, atomicAdd_block(data, 1), poke(data + 32, peek(data)))
PAIR(atomic_of_two_words, atomicAdd((unsigned long long *)data, 1ull), poke(data + 1, 2))
PAIR(atomics_of_two_neighbours, atomicAdd(data, 1), atomicAdd(data + 1, 1))
PAIR(atomic_handover_unfenced, poke(data + 32, 1); atomicExch(data, 1),
     while (atomicAdd(data, 0) == 0) {} poke(data + 64, peek(data + 32)))

KERNEL(float_sum) { atomicAdd((float *)data, 1.0f); }

KERNEL(product_by_compare_and_swap)
{
    int seen = 1, was = atomicCAS(data, 0, 1);
    if (was)
        seen = was;
    while ((was = atomicCAS(data, seen, seen * 3)) != seen)
        seen = was;
}

KERNEL(global_histogram)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(data + t * t % 16, 1);
}

KERNEL(global_histogram_block_scope)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd_block(data + t * t % 16, 1);
}

KERNEL(privatised_histogram)
{
    const int t = threadIdx.x;
    int *mine = data + 16 + 16 * blockIdx.x;
    atomicAdd_block(mine + t * t % 16, 1);
    __syncthreads();
    if (t < 16)
        atomicAdd(data + t, mine[t]);
}

KERNEL(privatised_histogram_no_barrier)
{
    const int t = threadIdx.x;
    int *mine = data + 16 + 16 * blockIdx.x;
    atomicAdd_block(mine + t * t % 16, 1);
    if (t < 16)
        atomicAdd(data + t, peek(mine + t));
}

KERNEL(init_barrier_atomics)
{
    if (threadIdx.x == 0)
        data[0] = 5;
    __syncthreads();
    atomicAdd(data, 1);
}

KERNEL(init_by_other_block)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        data[0] = 5;
    __syncthreads();
    atomicAdd(data, 1);
}

KERNEL(append_to_list) { data[atomicAdd(sync, 1)] = threadIdx.x; }

KERNEL(append_to_list_plain)
{
    const int at = peek(sync);
    poke(sync, at + 1);
    poke(data + 32 + threadIdx.x + 64 * blockIdx.x, at);
}
