// What the compiler calls for accesses, and what the library functions and atomic operations of
// sim/cpu/runtime call.
#include "core.h"

#define HOOK(name, is_write, bytes)                                                      \
    EXPORT void __tsan_##name##bytes(void *address) {                                    \
        core_access(is_write, (uintptr_t)address, bytes, CALLER);                        \
    }
#define WIDTHS(name, is_write)                                                           \
    HOOK(name, is_write, 1)                                                              \
    HOOK(name, is_write, 2)                                                              \
    HOOK(name, is_write, 4)                                                              \
    HOOK(name, is_write, 8)                                                              \
    HOOK(name, is_write, 16)

WIDTHS(read, 0)
WIDTHS(write, 1)
WIDTHS(volatile_read, 0)
WIDTHS(volatile_write, 1)
WIDTHS(unaligned_read, 0)
WIDTHS(unaligned_write, 1)
WIDTHS(unaligned_volatile_read, 0)
WIDTHS(unaligned_volatile_write, 1)

EXPORT void __tsan_read_range(void *address, unsigned long size) {
    core_access(0, (uintptr_t)address, size, CALLER);
}

EXPORT void __tsan_write_range(void *address, unsigned long size) {
    core_access(1, (uintptr_t)address, size, CALLER);
}

EXPORT void __tsan_vptr_read(void **address) { core_access(0, (uintptr_t)address, 8, CALLER); }

EXPORT void __tsan_vptr_update(void **address, void *value) {
    if (*address != value) core_access(1, (uintptr_t)address, 8, CALLER);
}

EXPORT void __tsan_func_entry(void *caller) { (void)caller; }
EXPORT void __tsan_func_exit(void) {}
EXPORT void __tsan_init(void) {}
EXPORT void __tsan_atomic_thread_fence(int order) { (void)order; }
EXPORT void __tsan_atomic_signal_fence(int order) { (void)order; }

// From strings.c: its kinds are 0 for loads and 1 for stores.
void racetrap_range(unsigned kind, const volatile void *address, uint64_t size, uint32_t pc);
void racetrap_range(unsigned kind, const volatile void *address, uint64_t size, uint32_t pc) {
    static uint32_t reader;  // a function that reads first, then writes
    if (!size) return;
    if (kind == 1 && pc == reader) core_access_too(1, (uintptr_t)address, size, pc);
    else core_access(kind == 1, (uintptr_t)address, size, pc);
    reader = kind == 1 ? 0 : pc;
}

// From atomic_calls.c: its kinds are 2 for loads, 3 for stores and 4 for updates.
void racetrap_atomic_begin(const volatile void *address);
void racetrap_atomic_begin(const volatile void *address) { core_atomic_begin((uintptr_t)address); }

void racetrap_atomic_end(unsigned kind, const volatile void *address, unsigned size, int order,
                         uint32_t pc, int is_failed, uint64_t value);
void racetrap_atomic_end(unsigned kind, const volatile void *address, unsigned size, int order,
                         uint32_t pc, int is_failed, uint64_t value) {
    (void)order, (void)is_failed, (void)value;
    core_atomic_end(kind != 3, kind != 2, (uintptr_t)address, size, pc);
}
