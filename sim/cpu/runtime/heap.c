// The heap: blocks at repeatable places below 4 GiB, and events of their allocation.
//
// A thread's blocks come from its own part first, so that their places do not depend on other
// threads.  A freed block is not reused for long: reuse looks like a race to a detector without
// events of the heap.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record.h"

#define HEAP_BEGIN 0x20000000u
#define HEAP_END 0xa0000000u
#define PART (512u << 10)  // of each thread; what lies behind all of them is common
#define COMMON_BEGIN (HEAP_BEGIN + MAX_THREADS * PART)
#define RESTING (256u << 20)
#define FREED (64u << 10)  // bytes of a block that are recorded as written when it is freed
#define UNIT 16u
#define CLASSES 256

// In front of each block.
struct header {
    uint32_t bytes;   // bytes of its chunk
    uint32_t offset;  // from the start of the chunk to the block: alignment
};

struct chunk {
    struct chunk *next;
};

static spinlock heap;
static uintptr_t parts[MAX_THREADS + 1];  // next free byte of each part; the last is common
static struct { struct chunk *first, *last; } free_chunks[CLASSES];
static uint64_t resting;

// While a copy of the process is made, no other thread may change the heap.
void racetrap_lock_heap(void) { racetrap_lock(&heap); }

void racetrap_unlock_heap(void) { racetrap_unlock(&heap); }

// Chunks have 16 steps a power of two, so that at most 1/16 is wasted.
static unsigned class_of(uint32_t bytes, uint32_t *chunk_bytes) {
    unsigned shift = 0;
    uint32_t units = (bytes + UNIT - 1) / UNIT;
    while (units >> shift >= 32) shift++;
    units = (units + (1u << shift) - 1) >> shift;
    *chunk_bytes = (units << shift) * UNIT;
    return shift * 16 + units;
}

static uintptr_t cut(unsigned part, uintptr_t end, uint32_t bytes) {
    if (bytes > end - parts[part]) return 0;
    uintptr_t place = parts[part];
    parts[part] += bytes;
    return place;
}

static void reserve(void) {
    void *base = mmap((void *)(uintptr_t)HEAP_BEGIN, HEAP_END - HEAP_BEGIN, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (base != (void *)(uintptr_t)HEAP_BEGIN)
        racetrap_die("Static data of the program must end below %#x", HEAP_BEGIN);
    for (unsigned part = 0; part < MAX_THREADS; part++) parts[part] = HEAP_BEGIN + part * PART;
    parts[MAX_THREADS] = COMMON_BEGIN;
}

// A chunk of at least so many bytes, or 0.
static uintptr_t find_chunk(uint32_t bytes, uint32_t *chunk_bytes) {
    unsigned class = class_of(bytes, chunk_bytes);
    uintptr_t place = 0, part_end = HEAP_BEGIN + (self.number + 1) * (uintptr_t)PART;
    racetrap_lock(&heap);
    if (!parts[MAX_THREADS]) reserve();
    struct chunk *rested = free_chunks[class].first;
    if (!rested || resting <= RESTING) {
        place = cut(self.number, part_end, *chunk_bytes);
        if (!place) place = cut(MAX_THREADS, HEAP_END, *chunk_bytes);
    }
    if (!place && rested) {
        free_chunks[class].first = rested->next;
        resting -= *chunk_bytes;
        place = (uintptr_t)rested;
    }
    racetrap_unlock(&heap);
    return place;
}

static struct header *header_of(void *block) { return (struct header *)block - 1; }

static int is_ours(void *block) {
    return (uintptr_t)block >= HEAP_BEGIN && (uintptr_t)block < HEAP_END;
}

static void *allocate(size_t alignment, size_t size, uint32_t pc) {
    uint32_t chunk_bytes;
    if (alignment < UNIT) alignment = UNIT;
    uintptr_t place = 0;
    if (size < HEAP_END - HEAP_BEGIN && alignment < HEAP_END - HEAP_BEGIN - size)
        place = find_chunk(size + UNIT + alignment - UNIT, &chunk_bytes);
    if (!place) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t block = (place + UNIT + alignment - 1) / alignment * alignment;
    *header_of((void *)block) = (struct header){chunk_bytes, block - place};
    if (is_recording()) racetrap_sync(ALLOCATE, block, 0, size, pc);
    return (void *)block;
}

static size_t space_after(void *block) { return header_of(block)->bytes - header_of(block)->offset; }

static void release(void *block, uint32_t pc) {
    // The loader has a heap of its own while it starts the program.
    if (!is_ours(block)) return;
    if (is_recording()) {
        // A thread that still uses the block races with this write.  Libraries order what they free
        // by means of their own, which are not recorded.
        size_t size = space_after(block);
        racetrap_library_range(STORE, block, size < FREED ? size : FREED, pc);
        if (size > FREED && racetrap_is_recorded_code(pc)) racetrap_lose(LARGE_FREES, 1);
        racetrap_sync(FREE, (uint64_t)block, 0, 0, pc);
    }
    uint32_t bytes = header_of(block)->bytes, chunk_bytes;
    struct chunk *rested = (struct chunk *)((char *)block - header_of(block)->offset);
    unsigned class = class_of(bytes, &chunk_bytes);
    rested->next = NULL;
    racetrap_lock(&heap);
    if (free_chunks[class].first) free_chunks[class].last->next = rested;
    else free_chunks[class].first = rested;
    free_chunks[class].last = rested;
    resting += chunk_bytes;
    racetrap_unlock(&heap);
}

EXPORT void *malloc(size_t size) { return allocate(0, size, CALLER); }

EXPORT void free(void *block) { release(block, CALLER); }

// C++: the program's `delete` calls the heap itself, so that the place is known.
#define DELETE(name, ...) \
    EXPORT __attribute__((weak)) void name(void *block, ##__VA_ARGS__) { release(block, CALLER); }

void _ZdlPv(void *), _ZdaPv(void *), _ZdlPvm(void *, size_t), _ZdaPvm(void *, size_t);
void _ZdlPvSt11align_val_t(void *, size_t), _ZdaPvSt11align_val_t(void *, size_t);
void _ZdlPvmSt11align_val_t(void *, size_t, size_t), _ZdaPvmSt11align_val_t(void *, size_t, size_t);

DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm, size_t size __attribute__((unused)))
DELETE(_ZdaPvm, size_t size __attribute__((unused)))
DELETE(_ZdlPvSt11align_val_t, size_t alignment __attribute__((unused)))
DELETE(_ZdaPvSt11align_val_t, size_t alignment __attribute__((unused)))
DELETE(_ZdlPvmSt11align_val_t, size_t size __attribute__((unused)),
       size_t alignment __attribute__((unused)))
DELETE(_ZdaPvmSt11align_val_t, size_t size __attribute__((unused)),
       size_t alignment __attribute__((unused)))

EXPORT void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    void *block = allocate(0, bytes, CALLER);
    // Not by memset(), which is recorded for the program.  Fresh pages are zero, reused chunks are
    // not.
    void *place = block;
    if (block) __asm__ volatile("rep stosb" : "+D"(place), "+c"(bytes) : "a"(0) : "memory");
    return block;
}

EXPORT void *realloc(void *old, size_t size) {
    void *block = allocate(0, size, CALLER);
    if (!block || !old) return block;
    size_t kept = is_ours(old) ? space_after(old) : size;
    const void *source = old;
    void *target = block;
    if (kept > size) kept = size;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(kept) : : "memory");
    release(old, CALLER);
    return block;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    return realloc(old, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    return allocate(alignment, size, CALLER);
}

EXPORT void *memalign(size_t alignment, size_t size) { return allocate(alignment, size, CALLER); }

EXPORT void *valloc(size_t size) { return allocate(4096, size, CALLER); }

EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || alignment & (alignment - 1) || !alignment) return EINVAL;
    *block = allocate(alignment, size, CALLER);
    racetrap_library_range(STORE, block, sizeof *block, CALLER);
    return *block ? 0 : ENOMEM;
}

EXPORT size_t malloc_usable_size(void *block) { return block ? space_after(block) : 0; }
