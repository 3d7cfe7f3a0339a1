// Entry points that the compiler calls for plain accesses, functions and basic blocks.
#include "calls.h"

#define ACCESS(name, kind, bytes)                                                        \
    EXPORT void __tsan_##name##bytes(void *address) {                                    \
        record_access(kind, bytes, address, CALLER);                                     \
    }
#define WIDTHS(name, kind)                                                               \
    ACCESS(name, kind, 1)                                                                \
    ACCESS(name, kind, 2)                                                                \
    ACCESS(name, kind, 4)                                                                \
    ACCESS(name, kind, 8)                                                                \
    ACCESS(name, kind, 16)

WIDTHS(read, LOAD)
WIDTHS(write, STORE)
WIDTHS(volatile_read, LOAD)
WIDTHS(volatile_write, STORE)
WIDTHS(unaligned_read, LOAD)
WIDTHS(unaligned_write, STORE)
WIDTHS(unaligned_volatile_read, LOAD)
WIDTHS(unaligned_volatile_write, STORE)

EXPORT void __tsan_read_range(void *address, unsigned long size) {
    racetrap_range(LOAD, address, size, CALLER);
}

EXPORT void __tsan_write_range(void *address, unsigned long size) {
    racetrap_range(STORE, address, size, CALLER);
}

EXPORT void __tsan_vptr_read(void **address) { record_access(LOAD, 8, address, CALLER); }

EXPORT void __tsan_vptr_update(void **address, void *value) {
    // A destructor stores the pointer that its object already has: other threads see no change.
    if (*address != value) record_access(STORE, 8, address, CALLER);
    else self.pending += count_after(CALLER);
}

EXPORT void __tsan_func_entry(void *caller) {
    self.pending += count_after(CALLER);
    // Above the return address and the frame pointer: where the function's own part ends.
    racetrap_enter_function((uint32_t)(uintptr_t)caller, CALLER,
                            (uintptr_t)__builtin_frame_address(0) + 16);
}

EXPORT void __tsan_func_exit(void) {
    // The last call of a function may be a jump: then the caller is another, or in a library.
    self.pending += count_after(CALLER);
    racetrap_leave_function();
}

// At the start of each basic block.
EXPORT void __sanitizer_cov_trace_pc(void) { self.pending += count_after(CALLER); }

EXPORT void racetrap_mark_off(void) {
    if (self.marks++ == 0) racetrap_mark(COLLECT_OFF, CALLER);
}

EXPORT void racetrap_mark_on(void) {
    if (self.marks == 0)
        racetrap_die("Call of racetrap_collect_on must follow one of racetrap_collect_off");
    if (--self.marks == 0) racetrap_mark(COLLECT_ON, CALLER);
}

// Annotations in programs written for the compiler's own detector.
EXPORT void __tsan_acquire(void *address) {
    racetrap_sync(ACQUIRE, (uint64_t)address, 0, FLAG, CALLER);
}

EXPORT void __tsan_release(void *address) {
    racetrap_sync(RELEASE, (uint64_t)address, 0, FLAG, CALLER);
}
