// The heap: blocks lie one behind the other as the target's allocator lays them, with its header
// in front of each; a freed block is used again for the next request of its size.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core.h"

#define MOST_BLOCKS (1u << 24)
#define BUCKETS 1024

// All blocks, ascending by address.
static struct block {
    uint32_t address, size;
    uint32_t next_free;  // number of the next free block in its bucket, and one
} *blocks;
static uint32_t block_count;
static uint32_t buckets[BUCKETS];  // free blocks by size, newest first
static uintptr_t next;
static size_t padding, alignment;

static void *map(uintptr_t place, size_t bytes) {
    int fixed = place ? MAP_FIXED_NOREPLACE : 0;
    return mmap((void *)place, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

static void reserve(void) {
    blocks = map(0, MOST_BLOCKS * sizeof *blocks);
    if (blocks == MAP_FAILED || map(HEAP_BEGIN, HEAP_END - HEAP_BEGIN) != (void *)HEAP_BEGIN)
        racetrap_die("Static data of the program must end below %#lx", HEAP_BEGIN);
    padding = core_setting("RACETRAP_PADDING", 16);
    alignment = core_setting("RACETRAP_ALIGNMENT", 16);
    next = HEAP_BEGIN + core_setting("RACETRAP_HEAP_OFFSET", 0);
}

static struct block *block_at(const void *address) {
    uint32_t low = 0, high = block_count;
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        if (blocks[middle].address <= (uintptr_t)address) low = middle;
        else high = middle;
    }
    return &blocks[low];
}

static uint32_t *bucket_of(size_t size) { return &buckets[size / alignment % BUCKETS]; }

// The newest free block that fits, out of its bucket; NULL if there is none.
static struct block *take_free(size_t size, size_t unit) {
    for (uint32_t *link = bucket_of(size); *link; link = &blocks[*link - 1].next_free) {
        struct block *block = &blocks[*link - 1];
        if (block->size == size && block->address % unit == 0) {
            *link = block->next_free;
            return block;
        }
    }
    return NULL;
}

static struct block *cut(size_t size, size_t unit) {
    uintptr_t place = (next + padding + unit - 1) / unit * unit;
    if (block_count == MOST_BLOCKS || place > HEAP_END || size > HEAP_END - place) return NULL;
    next = place + size;
    blocks[block_count] = (struct block){place, size, 0};
    return &blocks[block_count++];
}

static void *allocate(size_t unit, size_t size) {
    if (!next) reserve();
    if (unit < alignment) unit = alignment;
    struct block *block = NULL;
    if (size < HEAP_END - HEAP_BEGIN && unit < HEAP_END - HEAP_BEGIN) {
        size = size ? (size + alignment - 1) / alignment * alignment : alignment;
        block = take_free(size, unit);
        if (!block) block = cut(size, unit);
    }
    if (!block) errno = ENOMEM;
    return block ? (void *)(uintptr_t)block->address : NULL;
}

static int is_ours(const void *block) {
    return (uintptr_t)block >= HEAP_BEGIN && (uintptr_t)block < HEAP_END;
}

// What the C library allocates for itself is no access of the program.
static void access_by(const void *caller, int is_write, void *block, size_t bytes) {
    if (bytes && (uintptr_t)caller < HEAP_BEGIN)
        core_access(is_write, (uintptr_t)block, bytes, (uint32_t)(uintptr_t)caller);
}

EXPORT void *malloc(size_t size) { return allocate(0, size); }

EXPORT void free(void *address) {
    // The loader has a heap of its own while it starts the program.
    if (!is_ours(address)) return;
    struct block *block = block_at(address);
    uint32_t *bucket = bucket_of(block->size);
    block->next_free = *bucket;
    *bucket = (uint32_t)(block - blocks) + 1;
}

EXPORT void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    void *block = allocate(0, bytes);
    if (!block) return NULL;
    access_by(__builtin_return_address(0), 1, block, bytes);
    return __real_memset(block, 0, bytes);
}

EXPORT void *realloc(void *old, size_t size) {
    void *block = allocate(0, size);
    if (!block || !old) return block;
    size_t kept = is_ours(old) ? block_at(old)->size : size;
    if (kept > size) kept = size;
    access_by(__builtin_return_address(0), 0, old, kept);
    access_by(__builtin_return_address(0), 1, block, kept);
    __real_memcpy(block, old, kept);
    free(old);
    return block;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    return realloc(old, bytes);
}

EXPORT void *aligned_alloc(size_t aligned_to, size_t size) { return allocate(aligned_to, size); }
EXPORT void *memalign(size_t aligned_to, size_t size) { return allocate(aligned_to, size); }
EXPORT void *valloc(size_t size) { return allocate(4096, size); }

EXPORT int posix_memalign(void **block, size_t aligned_to, size_t size) {
    if (aligned_to % sizeof(void *) || aligned_to & (aligned_to - 1) || !aligned_to) return EINVAL;
    *block = allocate(aligned_to, size);
    return *block ? 0 : ENOMEM;
}

EXPORT size_t malloc_usable_size(void *block) { return block ? block_at(block)->size : 0; }
