// C++: guards of the static variables of functions.  Compiled code reads a guard's first byte with
// an atomic load before it calls the library, which sets it.
#define _GNU_SOURCE
#include "record.h"

int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard);

EXPORT int __cxa_guard_acquire(uint64_t *guard) {
    int is_first = REAL(__cxa_guard_acquire)(guard);
    racetrap_sync(ATOMIC_LOAD, (uint64_t)guard, 1, ORDER_ACQUIRE, CALLER);
    return is_first;
}

EXPORT void __cxa_guard_release(uint64_t *guard) {
    racetrap_sync(ATOMIC_STORE, (uint64_t)guard, 1, ORDER_RELEASE, CALLER);
    REAL(__cxa_guard_release)(guard);
}
