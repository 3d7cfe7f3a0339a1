// Orders and scopes of loads, stores, atomics and fences, in messages from one block to another.

#include "common.cuh"

HANDOVER(store_release, STORE("release.gpu.u32", sync, 1), AWAIT("acquire.gpu.u32"))
HANDOVER(store_relaxed, STORE("relaxed.gpu.u32", sync, 1), AWAIT("acquire.gpu.u32"))

HANDOVER(load_acquire, STORE("release.gpu.u32", sync, 1), AWAIT("acquire.gpu.u32"))
HANDOVER(load_relaxed, STORE("release.gpu.u32", sync, 1), AWAIT("relaxed.gpu.u32"))

HANDOVER(store_release_sys, STORE("release.sys.u32", sync, 1), AWAIT("acquire.sys.u32"))
HANDOVER(store_release_cta, STORE("release.cta.u32", sync, 1), AWAIT("acquire.sys.u32"))

HANDOVER(load_acquire_sys, STORE("release.gpu.u32", sync, 1), AWAIT("acquire.sys.u32"))
HANDOVER(load_acquire_cta, STORE("release.gpu.u32", sync, 1), AWAIT("acquire.cta.u32"))

HANDOVER_IN_BLOCK(release_cta_in_block, STORE("release.cta.u32", sync, 1), AWAIT("acquire.cta.u32"))
HANDOVER_IN_BLOCK(relaxed_cta_in_block, STORE("relaxed.cta.u32", sync, 1), AWAIT("relaxed.cta.u32"))

#define SIGNAL_BY_ATOM(INSTRUCTION) \
    int old;                        \
    ATOM(INSTRUCTION, old, sync, 1)
HANDOVER(atom_add_release, SIGNAL_BY_ATOM("add.release.gpu.u32"), AWAIT("acquire.gpu.u32"))
HANDOVER(atom_add_relaxed, SIGNAL_BY_ATOM("add.relaxed.gpu.u32"), AWAIT("acquire.gpu.u32"))

HANDOVER(atom_exch_release, SIGNAL_BY_ATOM("exch.release.gpu.b32"), AWAIT("acquire.gpu.u32"))
HANDOVER(atom_exch_acquire, SIGNAL_BY_ATOM("exch.acquire.gpu.b32"), AWAIT("acquire.gpu.u32"))

HANDOVER(atom_or_acq_rel, SIGNAL_BY_ATOM("or.acq_rel.gpu.b32"), AWAIT("acquire.gpu.u32"))
HANDOVER(atom_or_acq_rel_cta, SIGNAL_BY_ATOM("or.acq_rel.cta.b32"), AWAIT("acquire.gpu.u32"))

#define AWAIT_BY_ATOM(INSTRUCTION)  \
    for (int seen = 0; seen != 1;)  \
    ATOM(INSTRUCTION, seen, sync, 0)
HANDOVER(await_add_acquire, STORE("release.gpu.u32", sync, 1), AWAIT_BY_ATOM("add.acquire.gpu.u32"))
HANDOVER(await_add_release, STORE("release.gpu.u32", sync, 1), AWAIT_BY_ATOM("add.release.gpu.u32"))

#define AWAIT_BY_CAS(INSTRUCTION)  \
    for (int seen = 0; seen != 1;) \
    CAS(INSTRUCTION, seen, sync, 1, 2)
HANDOVER(await_cas_acquire, STORE("release.gpu.u32", sync, 1), AWAIT_BY_CAS("cas.acquire.gpu.b32"))
HANDOVER(await_cas_relaxed, STORE("release.gpu.u32", sync, 1), AWAIT_BY_CAS("cas.relaxed.gpu.b32"))

HANDOVER(red_release, RED("add.release.gpu.u32", sync, 1), AWAIT("acquire.gpu.u32"))
HANDOVER(red_relaxed, RED("add.relaxed.gpu.u32", sync, 1), AWAIT("acquire.gpu.u32"))

HANDOVER(red_release_sys, RED("max.release.sys.u32", sync, 1), AWAIT("acquire.gpu.u32"))
HANDOVER(red_release_cta, RED("max.release.cta.u32", sync, 1), AWAIT("acquire.gpu.u32"))

// Fences beside relaxed flags

#define RAISE STORE("relaxed.gpu.u32", sync, 1)
#define MESSAGE(NAME, BEFORE, AFTER) \
    HANDOVER(NAME, BEFORE; RAISE, AWAIT("relaxed.gpu.u32"); AFTER)

MESSAGE(fence_acq_rel, FENCE("acq_rel.gpu"), FENCE("acq_rel.gpu"))
MESSAGE(fence_acq_rel_cta, FENCE("acq_rel.cta"), FENCE("acq_rel.gpu"))

MESSAGE(fence_in_reader, FENCE("acq_rel.gpu"), FENCE("acq_rel.gpu"))
MESSAGE(fence_in_reader_missing, FENCE("acq_rel.gpu"), )

MESSAGE(fence_in_writer, FENCE("acq_rel.gpu"), FENCE("acq_rel.gpu"))
MESSAGE(fence_in_writer_missing, , FENCE("acq_rel.gpu"))

MESSAGE(fence_sc, FENCE("sc.gpu"), FENCE("sc.gpu"))
MESSAGE(fence_sc_cta, FENCE("sc.gpu"), FENCE("sc.cta"))

MESSAGE(fence_sc_sys, FENCE("sc.sys"), FENCE("sc.sys"))
MESSAGE(fence_sc_sys_missing, FENCE("sc.sys"), )

MESSAGE(threadfence, __threadfence(), __threadfence())
MESSAGE(threadfence_block, __threadfence_block(), __threadfence())

MESSAGE(threadfence_system, __threadfence_system(), __threadfence_system())
MESSAGE(threadfence_system_missing, __threadfence_system(), )

HANDOVER(fence_and_acquire, FENCE("acq_rel.gpu"); RAISE, AWAIT("acquire.gpu.u32"))
HANDOVER(fence_and_relaxed, FENCE("acq_rel.gpu"); RAISE, AWAIT("relaxed.gpu.u32"))

HANDOVER(fence_behind_data, FENCE("acq_rel.gpu"); RAISE, AWAIT("acquire.gpu.u32"))
HANDOVER(fence_behind_flag, RAISE; FENCE("acq_rel.gpu"), AWAIT("acquire.gpu.u32"))

#define RAISE_VOLATILE *(volatile int *)sync = 1
#define AWAIT_VOLATILE while (*(volatile int *)sync == 0)
HANDOVER(volatile_flag, __threadfence(); RAISE_VOLATILE, AWAIT_VOLATILE; __threadfence())
HANDOVER(volatile_flag_unfenced, RAISE_VOLATILE, AWAIT_VOLATILE)

#define RAISE_TWICE(BEFORE)       \
    BEFORE;                       \
    RAISE_VOLATILE;               \
    __threadfence();              \
    *(volatile int *)sync = 2
#define AWAIT_TWO while (*(volatile int *)sync != 2)
HANDOVER(volatile_flag_of_two_values, RAISE_TWICE(__threadfence()), AWAIT_TWO; __threadfence())
HANDOVER(volatile_flag_fenced_between, RAISE_TWICE(), AWAIT_TWO; __threadfence())

HANDOVER(strong_flag, __threadfence(); RAISE, AWAIT("relaxed.gpu.u32"); __threadfence())
HANDOVER(weak_flag, __threadfence(); RAISE, AWAIT("weak.u32"); __threadfence())

HANDOVER(atomics_and_fences, __threadfence(); atomicExch(sync, 1),
         while (atomicAdd(sync, 0) == 0); __threadfence())
HANDOVER(atomics_no_fences, atomicExch(sync, 1), while (atomicAdd(sync, 0) == 0))

// Data that is itself relaxed

#define RACING_WORDS(NAME, WRITE, READ) \
    KERNEL(NAME)                        \
    {                                   \
        int value;                      \
        if (blockIdx.x == 0)            \
            STORE(WRITE, data, 1);      \
        else {                          \
            LOAD(READ, value, data);    \
            data[1] = value >= 0;       \
        }                               \
    }
RACING_WORDS(relaxed_data, "relaxed.gpu.u32", "relaxed.gpu.u32")
RACING_WORDS(weak_data, "relaxed.gpu.u32", "weak.u32")

RACING_WORDS(relaxed_data_gpu, "relaxed.gpu.u32", "relaxed.sys.u32")
RACING_WORDS(relaxed_data_cta, "relaxed.gpu.u32", "relaxed.cta.u32")

RACING_WORDS(relaxed_data_of_one_size, "relaxed.gpu.u32", "relaxed.gpu.u32")
RACING_WORDS(relaxed_data_of_two_sizes, "relaxed.gpu.u32", "relaxed.gpu.u8")

// Chains

#define CHAIN(NAME, LINK)                     \
    KERNEL(NAME)                              \
    {                                         \
        if (blockIdx.x == 0) {                \
            data[0] = 42;                     \
            STORE("release.gpu.u32", sync, 1);\
        } else if (blockIdx.x == 1) {         \
            LINK                              \
        } else {                              \
            AWAIT_VALUE("acquire.gpu.u32", sync + 1, 1); \
            data[1] = data[0];                \
        }                                     \
    }
CHAIN(chain_acquire, AWAIT("acquire.gpu.u32"); STORE("release.gpu.u32", sync + 1, 1);)
CHAIN(chain_relaxed, AWAIT("relaxed.gpu.u32"); STORE("release.gpu.u32", sync + 1, 1);)

#define SEQUENCE(NAME, LINK)                  \
    KERNEL(NAME)                              \
    {                                         \
        if (blockIdx.x == 0) {                \
            data[0] = 42;                     \
            STORE("release.gpu.u32", sync, 1);\
        } else if (blockIdx.x == 1) {         \
            AWAIT("relaxed.gpu.u32");         \
            LINK;                             \
        } else {                              \
            AWAIT_VALUE("acquire.gpu.u32", sync, 2); \
            data[1] = data[0];                \
        }                                     \
    }
SEQUENCE(sequence_of_atom, int old; ATOM("add.relaxed.gpu.u32", old, sync, 1))
SEQUENCE(sequence_of_store, STORE("relaxed.gpu.u32", sync, 2))

// Widths

#define WIDE_SIGNAL(INSTRUCTION) \
    asm volatile("st." INSTRUCTION " [%0], %1;" ::"l"(sync), "l"(1ll) : "memory")
#define WIDE_AWAIT(INSTRUCTION)        \
    for (long long seen = 0; seen != 1;) \
    asm volatile("ld." INSTRUCTION " %0, [%1];" : "=l"(seen) : "l"(sync) : "memory")
HANDOVER(flag_of_64_bits, WIDE_SIGNAL("release.gpu.u64"), WIDE_AWAIT("acquire.gpu.u64"))
HANDOVER(flag_of_64_bits_relaxed, WIDE_SIGNAL("relaxed.gpu.u64"), WIDE_AWAIT("acquire.gpu.u64"))

HANDOVER(flag_of_one_size, WIDE_SIGNAL("release.gpu.u64"), WIDE_AWAIT("acquire.gpu.u64"))
HANDOVER(flag_of_two_sizes, WIDE_SIGNAL("release.gpu.u64"), AWAIT("acquire.gpu.u32"))

#define SHORT_SIGNAL(INSTRUCTION) \
    asm volatile("st." INSTRUCTION " [%0], %1;" ::"l"(sync), "h"((short)1) : "memory")
#define SHORT_AWAIT(INSTRUCTION)     \
    for (short seen = 0; seen != 1;) \
    asm volatile("ld." INSTRUCTION " %0, [%1];" : "=h"(seen) : "l"(sync) : "memory")
HANDOVER(flag_of_16_bits, SHORT_SIGNAL("release.gpu.u16"), SHORT_AWAIT("acquire.gpu.u16"))
HANDOVER(flag_of_16_bits_relaxed, SHORT_SIGNAL("release.gpu.u16"), SHORT_AWAIT("relaxed.gpu.u16"))

// A flag in shared memory

#define IN_SHARED(NAME, RELEASE, ACQUIRE)                                  \
    KERNEL(NAME)                                                           \
    {                                                                      \
        __shared__ int message, flag;                                      \
        if (threadIdx.x == 0)                                              \
            flag = 0;                                                      \
        __syncthreads();                                                   \
        if (threadIdx.x == 0) {                                            \
            message = 42 + threadIdx.y;                                    \
            STORE(RELEASE, &flag, 1);                                      \
        } else if (threadIdx.x == 32) {                                    \
            AWAIT_VALUE(ACQUIRE, &flag, 1);                                \
            data[0] = message;                                             \
        }                                                                  \
    }
IN_SHARED(shared_flag_release, "release.cta.u32", "acquire.cta.u32")
IN_SHARED(shared_flag_relaxed, "release.cta.u32", "relaxed.cta.u32")
