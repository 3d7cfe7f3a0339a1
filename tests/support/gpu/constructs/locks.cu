// Locks over plain data, and data structures without locks.

#include "common.cuh"

// Each block adds 21 to the word inside a critical section.
#define LOCKED(NAME, LOCK, UNLOCK) \
    KERNEL(NAME)                   \
    {                              \
        LOCK;                      \
        data[0] += 21;             \
        UNLOCK;                    \
    }
#define LOCK_BY_CAS(INSTRUCTION)   \
    for (int seen = 1; seen != 0;) \
    CAS(INSTRUCTION, seen, sync, 0, 1)
#define LOCK_BY_EXCHANGE(INSTRUCTION) \
    for (int seen = 1; seen != 0;)    \
    ATOM(INSTRUCTION, seen, sync, 1)
#define UNLOCK_BY_EXCHANGE(INSTRUCTION) \
    int old;                            \
    ATOM(INSTRUCTION, old, sync, 0)

LOCKED(cas_fence, while (atomicCAS(sync, 0, 1)); __threadfence(), __threadfence(); atomicExch(sync, 0))
LOCKED(cas_no_fence, while (atomicCAS(sync, 0, 1)), __threadfence(); atomicExch(sync, 0))

LOCKED(fence_exch, while (atomicCAS(sync, 0, 1)); __threadfence(), __threadfence(); atomicExch(sync, 0))
LOCKED(no_fence_exch, while (atomicCAS(sync, 0, 1)); __threadfence(), atomicExch(sync, 0))

LOCKED(unlock_release, LOCK_BY_CAS("cas.acquire.gpu.b32"), STORE("release.gpu.u32", sync, 0))
LOCKED(unlock_relaxed, LOCK_BY_CAS("cas.acquire.gpu.b32"), STORE("relaxed.gpu.u32", sync, 0))

LOCKED(lock_acquire, LOCK_BY_CAS("cas.acquire.gpu.b32"), STORE("release.gpu.u32", sync, 0))
LOCKED(lock_relaxed, LOCK_BY_CAS("cas.relaxed.gpu.b32"), STORE("release.gpu.u32", sync, 0))

LOCKED(lock_device, LOCK_BY_CAS("cas.acquire.gpu.b32"), STORE("release.gpu.u32", sync, 0))
LOCKED(lock_block, LOCK_BY_CAS("cas.acquire.cta.b32"), STORE("release.gpu.u32", sync, 0))

LOCKED(exchange_acquire, LOCK_BY_EXCHANGE("exch.acquire.gpu.b32"), UNLOCK_BY_EXCHANGE("exch.release.gpu.b32"))
LOCKED(exchange_relaxed, LOCK_BY_EXCHANGE("exch.acquire.gpu.b32"), UNLOCK_BY_EXCHANGE("exch.relaxed.gpu.b32"))

LOCKED(unlock_volatile_fenced, while (atomicCAS(sync, 0, 1)); __threadfence(), __threadfence(); *(volatile int *)sync = 0)
LOCKED(unlock_volatile_unfenced, while (atomicCAS(sync, 0, 1)); __threadfence(), *(volatile int *)sync = 0)

// A ticket lock: its next ticket, and the one that is served.
#define TICKET(ORDER)                                       \
    int ticket;                                             \
    ATOM("add.relaxed.gpu.u32", ticket, sync, 1);           \
    for (int served = -1; served != ticket;)                \
        LOAD(ORDER, served, sync + 1)
LOCKED(ticket_acquire, TICKET("acquire.gpu.u32"), STORE("release.gpu.u32", sync + 1, ticket + 1))
LOCKED(ticket_relaxed, TICKET("relaxed.gpu.u32"), STORE("release.gpu.u32", sync + 1, ticket + 1))

KERNEL(try_lock_heeded)
{
    int seen;
    CAS("cas.acquire.gpu.b32", seen, sync, 0, 1);
    if (seen == 0) {
        data[0] += 21;
        STORE("release.gpu.u32", sync, 0);
    }
}
KERNEL(try_lock_ignored)
{
    int seen;
    CAS("cas.acquire.gpu.b32", seen, sync, 0, 1);
    data[0] += 21;
    STORE("release.gpu.u32", sync, 0);
}

// Readers count themselves in and out, a writer waits until there is none and shuts them out.
#define WRITER_OR_READER(NAME, ENTER, LEAVE)                                   \
    KERNEL(NAME)                                                               \
    {                                                                          \
        if (blockIdx.x == 0) {                                                 \
            for (int seen = 1; seen != 0;)                                     \
                CAS("cas.acquire.gpu.b32", seen, sync, 0, -1);                 \
            data[0] = 42;                                                      \
            STORE("release.gpu.u32", sync, 0);                                 \
        } else {                                                               \
            ENTER;                                                             \
            data[blockIdx.x] = data[0];                                        \
            LEAVE;                                                             \
        }                                                                      \
    }
#define COUNT_IN                                                       \
    int before = 0;                                                    \
    for (int seen = ~before; seen != before;) {                        \
        LOAD("relaxed.gpu.u32", before, sync);                         \
        before = before < 0 ? 0 : before;                              \
        CAS("cas.acquire.gpu.b32", seen, sync, before, before + 1);    \
    }
WRITER_OR_READER(reader_counted, COUNT_IN, RED("add.release.gpu.s32", sync, -1))
WRITER_OR_READER(reader_uncounted, , )

WRITER_OR_READER(reader_leaves_release, COUNT_IN, RED("add.release.gpu.s32", sync, -1))
WRITER_OR_READER(reader_leaves_relaxed, COUNT_IN, RED("add.relaxed.gpu.s32", sync, -1))

// A sequence lock: a reader that saw the count change throws away what it has read.
#define SEQUENCE_LOCK(NAME, WRITE, READ)                                  \
    KERNEL(NAME)                                                          \
    {                                                                     \
        if (blockIdx.x == 0) {                                            \
            STORE("relaxed.gpu.u32", sync, 1);                            \
            FENCE("acq_rel.gpu");                                         \
            WRITE;                                                        \
            STORE("release.gpu.u32", sync, 2);                            \
        } else {                                                          \
            int before = 1, after = 0, value;                             \
            while (before != after || before % 2) {                       \
                LOAD("acquire.gpu.u32", before, sync);                    \
                READ;                                                     \
                FENCE("acq_rel.gpu");                                     \
                LOAD("relaxed.gpu.u32", after, sync);                     \
            }                                                             \
            data[1] = value % 42;                                         \
        }                                                                 \
    }
SEQUENCE_LOCK(sequence_lock_relaxed_data, STORE("relaxed.gpu.u32", data, 42),
              LOAD("relaxed.gpu.u32", value, data))
SEQUENCE_LOCK(sequence_lock_weak_data, data[0] = 42, LOAD("weak.u32", value, data))

// A stack: a node's content is released with its address.
#define PUSHED(NAME, PUSH)                                                 \
    KERNEL(NAME)                                                           \
    {                                                                      \
        if (blockIdx.x == 0) {                                             \
            data[5] = 42;                                                  \
            int seen;                                                      \
            CAS(PUSH, seen, sync, 0, 5);                                   \
        } else {                                                           \
            int node = 0;                                                  \
            while (node == 0)                                              \
                ATOM("exch.acquire.gpu.b32", node, sync, 0);               \
            data[1] = data[node];                                          \
        }                                                                  \
    }
PUSHED(push_release, "cas.release.gpu.b32")
PUSHED(push_relaxed, "cas.relaxed.gpu.b32")

// The last block adds up; its fence behind the ticket acquires.
#define LAST_BLOCK(NAME, AFTER)                         \
    KERNEL(NAME)                                        \
    {                                                   \
        data[1 + blockIdx.x] = 21;                      \
        __threadfence();                                \
        if (atomicAdd(sync, 1) == gridDim.x - 1) {      \
            AFTER;                                      \
            data[0] = data[1] + data[2];                \
        }                                               \
    }
LAST_BLOCK(last_block_fenced, __threadfence())
LAST_BLOCK(last_block_unfenced, )

// Warps of a block take a lock of block scope.
#define LOCKED_WARPS(NAME, UNLOCK)                                \
    KERNEL(NAME)                                                  \
    {                                                             \
        if (threadIdx.x % 32 == 0) {                              \
            LOCK_BY_CAS("cas.acquire.cta.b32");                   \
            data[0] += 21;                                        \
            STORE(UNLOCK, sync, 0);                               \
        }                                                         \
    }
LOCKED_WARPS(warps_unlock_release, "release.cta.u32")
LOCKED_WARPS(warps_unlock_relaxed, "relaxed.cta.u32")

LOCKED(one_lock, LOCK_BY_CAS("cas.acquire.gpu.b32"), STORE("release.gpu.u32", sync, 0))
LOCKED(two_locks, sync += blockIdx.x; LOCK_BY_CAS("cas.acquire.gpu.b32"), STORE("release.gpu.u32", sync, 0))
