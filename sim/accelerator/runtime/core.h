// Interface between shims, hooks and heap and the machine under them.  There are two machines:
// record.c records what happens and does DMA at once, timing.c defers DMA and write-backs at
// random.
#ifndef CORE_H
#define CORE_H

#include <stddef.h>
#include <stdint.h>

#include "../../cpu/runtime/raw_file.h"

// Kinds of operations, as in racetrap.golden_model.trace.noncoherent.operations.
enum kind {
    CACHED_READ, CACHED_WRITE, UNCACHED_READ, UNCACHED_WRITE, DMA_READ, DMA_WRITE, SYNC, SYNC_ALL,
    CACHE_FLUSH, CACHE_CLEAN, CACHE_INVALIDATE, FLUSH_ALL, CLEAN_ALL, INVALIDATE_ALL,
};

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint32_t)(uintptr_t)__builtin_return_address(0))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
// A target with fewer engines says how many.
#ifndef ENGINES
#define ENGINES 64
#endif

// DMA between memory and a device's own memory.
struct transfer {
    enum kind kind;
    int engine;
    uintptr_t memory, device;
    size_t size, rows, stride, device_stride;  // one row: strides are not used
};

// An access of the CPU, reported before it happens.
void core_access(int is_write, uintptr_t address, size_t size, uint32_t pc);
// An access that belongs to the one before: nothing happens between them.
void core_access_too(int is_write, uintptr_t address, size_t size, uint32_t pc);
// Around an atomic operation of at most 16 bytes.
void core_atomic_begin(uintptr_t address);
void core_atomic_end(int is_read, int is_write, uintptr_t address, size_t size, uint32_t pc);
// Maintenance of the lines of a range, or of all lines.
void core_maintain(enum kind kind, uintptr_t address, size_t size, uint32_t pc);
void core_transfer(const struct transfer *transfer, uint32_t pc);
void core_run(int engine, void (*work)(void *), const void *argument, size_t size);
void core_sync(int engine, uint32_t pc);
void core_sync_all(uint32_t pc);
// A transfer that a program requests, once it is checked.
void core_ask(const struct transfer *transfer, uint32_t pc);
void core_check_engine(int engine);
// Bytes of a line, as the user has given them.
size_t core_line_bytes(void);

// Above 0 a device is at work: accesses from the compiler's hooks are not the CPU's.
extern int core_device_depth;

// The library's own copy: the program's calls go through wrappers that report its accesses.
void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);

// Bytes from `first` to `last` that are all cached, or all not.
struct zone {
    uintptr_t first, last;
    int is_uncached;
};
extern struct zone core_zone;  // of the latest access
struct zone zone_of(uintptr_t address);
void zones_set(uintptr_t address, size_t size, int is_uncached);

static inline int is_uncached(uintptr_t address) {
    if (!LIKELY(address >= core_zone.first && address <= core_zone.last))
        core_zone = zone_of(address);
    return core_zone.is_uncached;
}

// Places of the heap: blocks lie as the target's allocator would lay them.
#define HEAP_BEGIN 0x20000000ul
#define HEAP_END 0xa0000000ul

// A number from the environment, or another one.
unsigned long core_setting(const char *name, unsigned long otherwise);

#endif
