// Lanes of one warp, which are scheduled independently from Volta on.

#include <cooperative_groups.h>

#include "common.cuh"

namespace cg = cooperative_groups;

#define EXCHANGE(NAME, BARRIER)                    \
    KERNEL(NAME)                                   \
    {                                              \
        __shared__ int words[32];                  \
        int lane = threadIdx.x;                    \
        words[lane] = lane;                        \
        BARRIER;                                   \
        data[lane] = words[lane ^ 1];              \
    }
EXCHANGE(syncwarp, __syncwarp())
EXCHANGE(syncwarp_missing, )

#define EXCHANGE_GLOBAL(NAME, BARRIER)             \
    KERNEL(NAME)                                   \
    {                                              \
        int lane = threadIdx.x;                    \
        data[lane] = lane;                         \
        BARRIER;                                   \
        data[32 + lane] = data[lane ^ 1];          \
    }
EXCHANGE_GLOBAL(syncwarp_global, __syncwarp())
EXCHANGE_GLOBAL(syncwarp_global_missing, )

// Halves of a warp that wait each for itself.
#define HALVES(NAME, FROM)                                     \
    KERNEL(NAME)                                               \
    {                                                          \
        __shared__ int words[32];                              \
        int lane = threadIdx.x;                                \
        words[lane] = lane;                                    \
        __syncwarp(lane < 16 ? 0x0000ffff : 0xffff0000);       \
        data[lane] = words[lane ^ (FROM)];                     \
    }
HALVES(half_mask_own_half, 8)
HALVES(half_mask_other_half, 16)

// A mask that is worked out.
EXCHANGE(mask_of_pairs, __syncwarp(3u << (lane & ~1)))
EXCHANGE(mask_of_one, __syncwarp(1u << lane))

// Shuffles and votes give no order of memory.
EXCHANGE(shuffle_and_syncwarp, __shfl_sync(~0u, lane, 0); __syncwarp())
EXCHANGE(shuffle_alone, asm volatile("" ::"r"(__shfl_sync(~0u, lane, 0))))

EXCHANGE(vote_and_syncwarp, __any_sync(~0u, lane); __syncwarp())
EXCHANGE(vote_alone, asm volatile("" ::"r"(__ballot_sync(~0u, lane & 1))))

KERNEL(shuffled_value) { data[threadIdx.x] = __shfl_xor_sync(~0u, threadIdx.x, 1); }
KERNEL(shared_value)
{
    __shared__ volatile int words[32];
    words[threadIdx.x] = threadIdx.x;
    data[threadIdx.x] = words[threadIdx.x ^ 1];
}

// One lane writes inside a branch, all read behind it.
#define ONE_WRITES(NAME, BARRIER)                  \
    KERNEL(NAME)                                   \
    {                                              \
        if (threadIdx.x == 3)                      \
            data[40] = 7;                          \
        BARRIER;                                   \
        data[threadIdx.x] = data[40];              \
    }
ONE_WRITES(branch_and_syncwarp, __syncwarp())
ONE_WRITES(branch_reconverged, asm volatile("" ::: "memory"))

// Both sides of a branch at one word.
KERNEL(branches_by_atomics)
{
    if (threadIdx.x % 2)
        atomicAdd(data, 1);
    else
        atomicAdd(data, 2);
}
KERNEL(branches_by_stores)
{
    if (threadIdx.x % 2)
        *(volatile int *)data = 1;
    else
        *(volatile int *)data = 2;
}

KERNEL(lanes_store_one_value) { data[0] = 7; }
KERNEL(lanes_store_values) { data[0] = threadIdx.x; }

KERNEL(lanes_count_by_atomics) { atomicAdd(data, 1); }
KERNEL(lanes_count_by_stores) { data[0] = data[0] + 1; }

// The tail of a reduction.
#define TAIL(NAME, BARRIER)                                          \
    KERNEL(NAME)                                                     \
    {                                                                \
        __shared__ int words[64];                                    \
        int lane = threadIdx.x;                                      \
        words[lane] = lane;                                          \
        words[lane + 32] = lane;                                     \
        BARRIER;                                                     \
        for (int step = 32; step > 0; step /= 2) {                   \
            int other = words[lane + step];                          \
            BARRIER;                                                 \
            if (lane < step)                                         \
                words[lane] += other;                                \
            BARRIER;                                                 \
        }                                                            \
        if (lane == 0)                                               \
            data[0] = words[0];                                      \
    }
TAIL(tail_syncwarp, __syncwarp())
TAIL(tail_lockstep, asm volatile("" ::: "memory"))

// Flags between lanes: progress is each lane's own.
#define LANE_FLAG(NAME, SIGNAL, WAIT)              \
    KERNEL(NAME)                                   \
    {                                              \
        if (threadIdx.x == 5) {                    \
            data[0] = 42;                          \
            SIGNAL;                                \
        } else if (threadIdx.x == 0) {             \
            WAIT;                                  \
            data[1] = data[0];                     \
        }                                          \
    }
LANE_FLAG(lane_release, STORE("release.cta.u32", sync, 1), AWAIT("acquire.cta.u32"))
LANE_FLAG(lane_relaxed, STORE("relaxed.cta.u32", sync, 1), AWAIT("acquire.cta.u32"))

#define LANE_LOCK(NAME, UNLOCK)                    \
    KERNEL(NAME)                                   \
    {                                              \
        int seen = 1;                              \
        while (seen != 0)                          \
            CAS("cas.acquire.cta.b32", seen, sync, 0, 1); \
        data[0] += 1;                              \
        STORE(UNLOCK, sync, 0);                    \
    }
LANE_LOCK(lane_lock_release, "release.cta.u32")
LANE_LOCK(lane_lock_relaxed, "relaxed.cta.u32")

// Lanes with one key wait for each other.
#define BY_KEY(NAME, BARRIER)                                  \
    KERNEL(NAME)                                               \
    {                                                          \
        int lane = threadIdx.x, key = lane % 4;                \
        unsigned peers = __match_any_sync(~0u, key);           \
        int first = __ffs(peers) - 1;                          \
        if (lane == first)                                     \
            data[40 + key] = key;                              \
        BARRIER;                                               \
        data[lane] = data[40 + key];                           \
    }
BY_KEY(match_and_syncwarp, __syncwarp(peers))
BY_KEY(match_alone, asm volatile("" ::"r"(peers)))

// Cooperative groups: tiles, and the lanes that are together

#define TILE(NAME, SIZE, FROM)                                               \
    KERNEL(NAME)                                                             \
    {                                                                        \
        __shared__ int words[32];                                            \
        auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());      \
        words[threadIdx.x] = threadIdx.x;                                    \
        tile.sync();                                                         \
        data[threadIdx.x] = words[threadIdx.x ^ (FROM)];                     \
    }
TILE(tile_of_16, 16, 8)
TILE(tile_of_8, 8, 8)

TILE(tile_of_32, 32, 16)
TILE(tile_of_4, 4, 16)

#define COALESCED(NAME, BARRIER)                               \
    KERNEL(NAME)                                               \
    {                                                          \
        __shared__ int words[32];                              \
        if (threadIdx.x < 8) {                                 \
            auto group = cg::coalesced_threads();              \
            words[threadIdx.x] = threadIdx.x;                  \
            BARRIER;                                           \
            data[threadIdx.x] = words[threadIdx.x ^ 1];        \
        }                                                      \
    }
COALESCED(coalesced_sync, group.sync())
COALESCED(coalesced_no_sync, asm volatile("" ::"r"(group.size()) : "memory"))
