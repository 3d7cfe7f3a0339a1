// Entry points that the compiler calls for atomic operations of 1 to 16 bytes.
#include "atomics.h"

#define ORDER __ATOMIC_SEQ_CST
#define BEGIN_CALL racetrap_atomic_begin(address)
#define END_CALL(kind, bits, order, is_failed, value)                                         \
    racetrap_atomic_end(kind, address, bits / 8, order, CALLER, is_failed, (uint64_t)(value))

// Old value of `address`, replaced by `replacement`, an expression of `old`.
#define REPLACE(type, replacement)                                                            \
    ({                                                                                        \
        type old = *address;                                                                  \
        for (type seen;; old = seen) {                                                        \
            seen = __sync_val_compare_and_swap(address, old, (type)(replacement));            \
            if (seen == old) break;                                                           \
        }                                                                                     \
        old;                                                                                  \
    })

#define UPDATE(bits, type, name, replacement)                                                 \
    EXPORT type __tsan_atomic##bits##_##name(volatile type *address, type operand, int order) { \
        BEGIN_CALL;                                                                           \
        type old = REPLACE(type, replacement);                                                \
        END_CALL(ATOMIC_UPDATE, bits, order, (type)(replacement) == old, old);                \
        return old;                                                                           \
    }

#define COMPARE(bits, type, name)                                                             \
    EXPORT int __tsan_atomic##bits##_compare_exchange_##name(                                 \
        volatile type *address, type *expected, type desired, int order, int failure) {       \
        BEGIN_CALL;                                                                           \
        type old = __sync_val_compare_and_swap(address, *expected, desired);                  \
        int done = old == *expected;                                                          \
        END_CALL(done ? ATOMIC_UPDATE : ATOMIC_LOAD, bits, done ? order : failure, !done, old); \
        if (!done) *expected = old;                                                           \
        return done;                                                                          \
    }

#define OPERATIONS(bits, type)                                                                \
    EXPORT type __tsan_atomic##bits##_load(const volatile type *variable, int order) {        \
        volatile type *address = (volatile type *)variable;                                   \
        BEGIN_CALL;                                                                           \
        type old = LOAD_##bits(type);                                                         \
        END_CALL(ATOMIC_LOAD, bits, order, 1, old);                                           \
        return old;                                                                           \
    }                                                                                         \
    EXPORT void __tsan_atomic##bits##_store(volatile type *address, type operand, int order) { \
        BEGIN_CALL;                                                                           \
        (void)REPLACE(type, operand);                                                         \
        END_CALL(ATOMIC_STORE, bits, order, 0, 0);                                            \
    }                                                                                         \
    UPDATE(bits, type, exchange, operand)                                                     \
    UPDATE(bits, type, fetch_add, old + operand)                                              \
    UPDATE(bits, type, fetch_sub, old - operand)                                              \
    UPDATE(bits, type, fetch_and, old & operand)                                              \
    UPDATE(bits, type, fetch_or, old | operand)                                               \
    UPDATE(bits, type, fetch_xor, old ^ operand)                                              \
    UPDATE(bits, type, fetch_nand, ~(old & operand))                                          \
    COMPARE(bits, type, strong)                                                               \
    COMPARE(bits, type, weak)

// A load must not write: the variable may lie in read-only memory.  16 bytes have no other way.
#define PLAIN_LOAD(type) __atomic_load_n(address, ORDER)
#define LOAD_8 PLAIN_LOAD
#define LOAD_16 PLAIN_LOAD
#define LOAD_32 PLAIN_LOAD
#define LOAD_64 PLAIN_LOAD
#define LOAD_128(type) __sync_val_compare_and_swap(address, 0, 0)

typedef unsigned __int128 uint128_t;

OPERATIONS(8, uint8_t)
OPERATIONS(16, uint16_t)
OPERATIONS(32, uint32_t)
OPERATIONS(64, uint64_t)
OPERATIONS(128, uint128_t)
