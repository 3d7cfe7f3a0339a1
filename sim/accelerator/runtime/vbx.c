// The functions of vbx.h: a vector engine, engine 0, with its scratchpad.
#include "../include/vbx.h"

#include <malloc.h>
#include <stdlib.h>

#include "../include/racetrap_accelerator.h"
#include "core.h"

#define ENGINE 0
// A target with less memory says how large it is.
#ifndef SCRATCHPAD
#define SCRATCHPAD (8u << 20)
#endif
#define ALIGNMENT 16u

static unsigned char scratchpad[SCRATCHPAD] __attribute__((aligned(ALIGNMENT)));
static size_t taken;
static int length = 1, rows = 1, target_stride, a_stride, b_stride;

struct instruction {
    vbx_mode mode;
    vbx_instruction operation;
    unsigned char *target;
    intptr_t a;
    const unsigned char *b;
    int length, rows, target_stride, a_stride, b_stride, accumulates;
};

static int bytes_of(vbx_mode mode) { return mode <= SVW ? 4 : mode <= SVH ? 2 : 1; }
static int has_scalar(vbx_mode mode) { return mode == SVW || mode == SVH || mode == SVB; }

static int64_t load(const unsigned char *place, int bytes) {
    int32_t word;
    int16_t half;
    switch (bytes) {
    case 4: __real_memcpy(&word, place, 4); return word;
    case 2: __real_memcpy(&half, place, 2); return half;
    default: return (int8_t)*place;
    }
}

static void store(unsigned char *place, int bytes, int64_t value) {
    int32_t word = (int32_t)value;
    int16_t half = (int16_t)value;
    switch (bytes) {
    case 4: __real_memcpy(place, &word, 4); return;
    case 2: __real_memcpy(place, &half, 2); return;
    default: *place = (unsigned char)value;
    }
}

static int64_t root(uint64_t value) {
    uint64_t found = 0;
    for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
        if ((found | bit) * (found | bit) <= value) found |= bit;
    return (int64_t)found;
}

static int64_t result(vbx_instruction operation, int64_t a, int64_t b, int bytes) {
    int bits = 8 * bytes;
    switch (operation) {
    case VMOV: return a;
    case VADD: return a + b;
    case VSUB: return a - b;
    case VMUL: return a * b;
    case VAND: return a & b;
    case VOR: return a | b;
    case VXOR: return a ^ b;
    case VSHL: return (int64_t)((uint64_t)b << (a & (bits - 1)));
    case VSHR: return b >> (a & (bits - 1));
    case VMIN: return a < b ? a : b;
    case VMAX: return a > b ? a : b;
    case VABSDIFF: return a > b ? a - b : b - a;
    case VDIV: return a ? b / a : -1;
    case VSQRT: return root((uint64_t)a & ((1ull << bits) - 1));
    case VMULFXP: return a * b >> 16;
    }
    return 0;
}

static void execute(void *argument) {
    struct instruction *one = argument;
    int bytes = bytes_of(one->mode), is_scalar = has_scalar(one->mode);
    for (int row = 0; row < one->rows; row++) {
        unsigned char *target = one->target + (ptrdiff_t)row * one->target_stride;
        const unsigned char *a = is_scalar ? NULL : (unsigned char *)one->a +
                                                        (ptrdiff_t)row * one->a_stride;
        const unsigned char *b = one->b ? one->b + (ptrdiff_t)row * one->b_stride : NULL;
        int64_t sum = 0;
        for (int at = 0; at < one->length; at++) {
            int64_t left = is_scalar ? (int64_t)one->a : load(a + at * bytes, bytes);
            int64_t value = result(one->operation, left, b ? load(b + at * bytes, bytes) : 0, bytes);
            if (one->accumulates) sum += value;
            else store(target + at * bytes, bytes, value);
        }
        if (one->accumulates) store(target, bytes, sum);
    }
}

static void queue(vbx_mode mode, vbx_instruction operation, void *target, intptr_t a,
                  const void *b, int rows_now, int accumulates) {
    struct instruction one = {mode, operation, target, a, b, length, rows_now, target_stride,
                              a_stride, b_stride, accumulates};
    core_run(ENGINE, execute, &one, sizeof one);
}

EXPORT void vbx(vbx_mode mode, vbx_instruction operation, vbx_sp_t *target, intptr_t a,
                const vbx_sp_t *b) {
    queue(mode, operation, target, a, b, 1, 0);
}

EXPORT void vbx_2D(vbx_mode mode, vbx_instruction operation, vbx_sp_t *target, intptr_t a,
                   const vbx_sp_t *b) {
    queue(mode, operation, target, a, b, rows, 0);
}

EXPORT void vbx_acc(vbx_mode mode, vbx_instruction operation, vbx_sp_t *target, intptr_t a,
                    const vbx_sp_t *b) {
    queue(mode, operation, target, a, b, 1, 1);
}

EXPORT void vbx_set_vl(int elements) {
    if (elements < 1) racetrap_die("Vector length must be at least 1, not %d", elements);
    length = elements;
}

EXPORT void vbx_set_2D(int rows_now, int target, int a, int b) {
    rows = rows_now;
    target_stride = target;
    a_stride = a;
    b_stride = b;
}

EXPORT void *vbx_shared_malloc(size_t size) {
    void *address = malloc(size);
    if (address) zones_set((uintptr_t)address, size, 1);
    return address;
}

EXPORT void vbx_shared_free(void *address) {
    if (!address) return;
    zones_set((uintptr_t)address, malloc_usable_size(address), 0);
    free(address);
}

EXPORT vbx_sp_t *vbx_sp_malloc(size_t size) {
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > SCRATCHPAD - taken)
        racetrap_die("Scratchpad must hold %zu bytes more, but has %u", size, SCRATCHPAD);
    taken += size;
    return scratchpad + taken - size;
}

EXPORT void vbx_sp_free(void) { taken = 0; }

static void transfer(enum kind kind, uintptr_t memory, const void *device, size_t size,
                     size_t rows_now, size_t stride, size_t device_stride, uint32_t pc) {
    core_ask(&(struct transfer){kind, ENGINE, memory, (uintptr_t)device, size, rows_now, stride,
                               device_stride}, pc);
}

EXPORT void vbx_dma_to_vector(vbx_sp_t *to, const volatile void *from, size_t size) {
    transfer(DMA_READ, (uintptr_t)from, to, size, 1, 0, 0, CALLER);
}

EXPORT void vbx_dma_to_host(volatile void *to, const vbx_sp_t *from, size_t size) {
    transfer(DMA_WRITE, (uintptr_t)to, from, size, 1, 0, 0, CALLER);
}

EXPORT void vbx_dma_to_vector_2D(vbx_sp_t *to, const volatile void *from, size_t size,
                                 size_t rows_now, size_t to_stride, size_t from_stride) {
    transfer(DMA_READ, (uintptr_t)from, to, size, rows_now, from_stride, to_stride, CALLER);
}

EXPORT void vbx_dma_to_host_2D(volatile void *to, const vbx_sp_t *from, size_t size,
                               size_t rows_now, size_t to_stride, size_t from_stride) {
    transfer(DMA_WRITE, (uintptr_t)to, from, size, rows_now, to_stride, from_stride, CALLER);
}

EXPORT void vbx_sync(void) { core_sync(ENGINE, CALLER); }

EXPORT void vbx_dcache_flush(const volatile void *address, size_t size) {
    if (size) core_maintain(CACHE_FLUSH, (uintptr_t)address, size, CALLER);
}

EXPORT void vbx_dcache_flush_all(void) { core_maintain(FLUSH_ALL, 0, 0, CALLER); }
