// Barriers of a block by number and count, for all warps or some.

#include "common.cuh"

#define SYNC(NUMBER, COUNT) asm volatile("bar.sync " #NUMBER ", " #COUNT ";" ::: "memory")
#define ARRIVE(NUMBER, COUNT) asm volatile("bar.arrive " #NUMBER ", " #COUNT ";" ::: "memory")

// Warp 0 writes 32 words, warp 1 copies them.
#define PRODUCED(NAME, SIGNAL, WAIT)                  \
    KERNEL(NAME)                                      \
    {                                                 \
        __shared__ int words[32];                     \
        int lane = threadIdx.x % 32;                  \
        if (threadIdx.x < 32) {                       \
            SIGNAL;                                   \
        } else if (threadIdx.x < 64) {                \
            WAIT;                                     \
            data[lane] = words[lane];                 \
        }                                             \
    }
#define WRITE words[lane] = lane

PRODUCED(arrive_and_sync, WRITE; ARRIVE(1, 64), SYNC(1, 64))
PRODUCED(arrive_no_sync, WRITE; ARRIVE(1, 64), )

PRODUCED(arrive_behind_data, WRITE; ARRIVE(1, 64), SYNC(1, 64))
PRODUCED(arrive_before_data, ARRIVE(1, 64); WRITE, SYNC(1, 64))

PRODUCED(arrive_and_exit, WRITE; ARRIVE(1, 64); return, SYNC(1, 64))
PRODUCED(arrive_write_and_exit, ARRIVE(1, 64); WRITE; return, SYNC(1, 64))

PRODUCED(sync_of_two_warps, WRITE; SYNC(1, 64), SYNC(1, 64))
PRODUCED(sync_of_each_warp, WRITE; SYNC(1, 32), SYNC(2, 32))

PRODUCED(one_number, WRITE; ARRIVE(3, 64), SYNC(3, 64))
PRODUCED(two_numbers, WRITE; ARRIVE(3, 64), ARRIVE(3, 64); SYNC(4, 32))

PRODUCED(barrier_cta, WRITE; asm volatile("barrier.cta.arrive 1, 64;" ::: "memory"),
         asm volatile("barrier.cta.sync 1, 64;" ::: "memory"))
PRODUCED(barrier_cta_behind, asm volatile("barrier.cta.arrive 1, 64;" ::: "memory"); WRITE,
         asm volatile("barrier.cta.sync 1, 64;" ::: "memory"))

// The third warp is not at the barrier of the first two.
#define THIRD_WARP(NAME, COUNT, READER)                   \
    KERNEL(NAME)                                          \
    {                                                     \
        __shared__ int words[32];                         \
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32; \
        if (warp == 0)                                    \
            words[lane] = lane;                           \
        if (warp < 2)                                     \
            SYNC(1, 64);                                  \
        if (warp == READER)                               \
            data[lane] = words[lane];                     \
    }
THIRD_WARP(reader_at_the_barrier, 64, 1)
THIRD_WARP(reader_beside_the_barrier, 64, 2)

// Two pairs of warps, a number for each.
#define TWO_PAIRS(NAME, FROM)                             \
    KERNEL(NAME)                                          \
    {                                                     \
        __shared__ int words[128];                        \
        int pair = threadIdx.x / 64;                      \
        words[threadIdx.x] = threadIdx.x;                 \
        asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory"); \
        data[threadIdx.x] = words[threadIdx.x ^ (FROM)];  \
    }
TWO_PAIRS(pairs_own_words, 32)
TWO_PAIRS(pairs_other_words, 64)

// Full and empty: the consumer frees the buffer for the next round.
#define BUFFERED(NAME, TAKE)                                    \
    KERNEL(NAME)                                                \
    {                                                           \
        __shared__ int words[32];                               \
        int lane = threadIdx.x % 32, sum = 0;                   \
        for (int round = 0; round < 3; round++) {               \
            if (threadIdx.x < 32) {                             \
                if (round > 0)                                  \
                    SYNC(2, 64);                                \
                words[lane] = round + 1;                        \
                ARRIVE(1, 64);                                  \
            } else {                                            \
                SYNC(1, 64);                                    \
                TAKE;                                           \
            }                                                   \
        }                                                       \
        if (threadIdx.x >= 32)                                  \
            data[lane] = sum;                                   \
    }
#define FREE  \
    if (round < 2) \
    ARRIVE(2, 64)
BUFFERED(freed_behind_read, sum += words[lane]; FREE)
BUFFERED(freed_before_read, FREE; sum += words[lane])

// A barrier that reduces is a barrier.
#define REDUCED(NAME, REDUCTION)                          \
    KERNEL(NAME)                                          \
    {                                                     \
        __shared__ int words[64];                         \
        words[threadIdx.x] = threadIdx.x;                 \
        int result = REDUCTION;                           \
        data[threadIdx.x] = words[threadIdx.x ^ 32] + result; \
    }
REDUCED(syncthreads_count, __syncthreads_count(threadIdx.x < 5))
REDUCED(syncwarp_and_count, (__syncwarp(), __popc(__ballot_sync(~0u, threadIdx.x < 5))))

REDUCED(syncthreads_and, __syncthreads_and(threadIdx.x < 64))
REDUCED(all_sync, __all_sync(~0u, threadIdx.x < 64))

__device__ __forceinline__ int red_of_two_warps(int number)
{
    int result;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.cta.red.popc.u32 %0, 1, 64, p; }"
                 : "=r"(result) : "r"(number) : "memory");
    return result;
}
KERNEL(red_of_some_warps)
{
    __shared__ int words[64];
    if (threadIdx.x < 64) {
        words[threadIdx.x] = threadIdx.x;
        int result = red_of_two_warps(threadIdx.x % 2);
        data[threadIdx.x] = words[threadIdx.x ^ 32] + result;
    }
}
KERNEL(red_of_some_warps_too_early)
{
    __shared__ int words[64];
    if (threadIdx.x < 64) {
        int result = red_of_two_warps(threadIdx.x % 2);
        words[threadIdx.x] = threadIdx.x;
        data[threadIdx.x] = words[threadIdx.x ^ 32] + result;
    }
}

// Global memory too.
KERNEL(global_words_at_a_barrier)
{
    if (threadIdx.x < 64) {
        data[threadIdx.x] = threadIdx.x;
        SYNC(1, 64);
        data[64 + threadIdx.x] = data[threadIdx.x ^ 32];
    }
}
KERNEL(global_words_without_barrier)
{
    if (threadIdx.x < 64) {
        data[threadIdx.x] = threadIdx.x;
        SYNC(1, 64);
        data[64 + (threadIdx.x ^ 32)] = 0;
        data[64 + threadIdx.x] = data[threadIdx.x ^ 32];
    }
}
