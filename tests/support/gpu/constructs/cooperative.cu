// Cooperative groups above the warp: blocks and grids.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "common.cuh"

namespace cg = cooperative_groups;

#define BLOCK_EXCHANGE(NAME, BARRIER)                          \
    KERNEL(NAME)                                               \
    {                                                          \
        __shared__ int words[64];                              \
        auto block = cg::this_thread_block();                  \
        words[threadIdx.x] = threadIdx.x;                      \
        BARRIER;                                               \
        data[threadIdx.x] = words[threadIdx.x ^ 32];           \
    }
BLOCK_EXCHANGE(block_sync, block.sync())
BLOCK_EXCHANGE(tile_sync_only, cg::tiled_partition<32>(block).sync())

BLOCK_EXCHANGE(block_arrive_and_wait, block.barrier_wait(block.barrier_arrive()))
BLOCK_EXCHANGE(block_size_only, asm volatile("" ::"r"(block.size()) : "memory"))

#define GRID_EXCHANGE(NAME, BARRIER)                                     \
    KERNEL(NAME)                                                         \
    {                                                                    \
        auto grid = cg::this_grid();                                     \
        int own = blockIdx.x * blockDim.x + threadIdx.x;                 \
        data[own] = own;                                                 \
        BARRIER;                                                         \
        data[256 + own] = data[own ^ 64];                                \
    }
GRID_EXCHANGE(grid_sync, grid.sync())
GRID_EXCHANGE(grid_block_sync, cg::this_thread_block().sync())

#define REDUCED(NAME, BARRIER)                                           \
    KERNEL(NAME)                                                         \
    {                                                                    \
        __shared__ int sums[2];                                          \
        auto block = cg::this_thread_block();                            \
        auto tile = cg::tiled_partition<32>(block);                      \
        int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());   \
        if (tile.thread_rank() == 0)                                     \
            sums[threadIdx.x / 32] = sum;                                \
        BARRIER;                                                         \
        if (threadIdx.x == 0)                                            \
            data[0] = sums[0] + sums[1];                                 \
    }
REDUCED(reduce_and_sync, block.sync())
REDUCED(reduce_alone, tile.sync())
