// The functions of core_cm7.h, xil_cache.h and linux/dma-mapping.h.
#include <stdlib.h>

#include "core.h"

// CMSIS.  The cache of a recorded program is on from the start: to enable it does nothing.

EXPORT void SCB_EnableDCache(void) {}
EXPORT void SCB_DisableDCache(void) { core_maintain(FLUSH_ALL, 0, 0, CALLER); }
EXPORT void SCB_CleanDCache(void) { core_maintain(CLEAN_ALL, 0, 0, CALLER); }
EXPORT void SCB_InvalidateDCache(void) { core_maintain(INVALIDATE_ALL, 0, 0, CALLER); }
EXPORT void SCB_CleanInvalidateDCache(void) { core_maintain(FLUSH_ALL, 0, 0, CALLER); }

#define BY_ADDRESS(name, kind)                                                           \
    EXPORT void SCB_##name##DCache_by_Addr(volatile void *address, int32_t size) {       \
        if (size > 0) core_maintain(kind, (uintptr_t)address, size, CALLER);             \
    }

BY_ADDRESS(Clean, CACHE_CLEAN)
BY_ADDRESS(Invalidate, CACHE_INVALIDATE)
BY_ADDRESS(CleanInvalidate, CACHE_FLUSH)

// Xilinx.

EXPORT void Xil_DCacheEnable(void) {}
EXPORT void Xil_DCacheDisable(void) { core_maintain(FLUSH_ALL, 0, 0, CALLER); }
EXPORT void Xil_DCacheFlush(void) { core_maintain(FLUSH_ALL, 0, 0, CALLER); }
EXPORT void Xil_DCacheInvalidate(void) { core_maintain(INVALIDATE_ALL, 0, 0, CALLER); }

EXPORT void Xil_DCacheFlushRange(intptr_t address, uint32_t size) {
    if (size) core_maintain(CACHE_FLUSH, address, size, CALLER);
}

EXPORT void Xil_DCacheInvalidateRange(intptr_t address, uint32_t size) {
    if (!size) return;
    uintptr_t first = address, after = first + size, mask = core_line_bytes() - 1;
    if (first & mask) {
        first &= ~mask;
        core_maintain(CACHE_FLUSH, first, 1, CALLER);
        first += mask + 1;
    }
    if (after & mask) {
        after &= ~mask;
        // A range within one line has been flushed with its start.
        if (after >= first) core_maintain(CACHE_FLUSH, after, 1, CALLER);
    }
    if (after > first) core_maintain(CACHE_INVALIDATE, first, after - first, CALLER);
}

EXPORT void Xil_DCacheFlushLine(intptr_t address) {
    core_maintain(CACHE_FLUSH, address, 1, CALLER);
}

EXPORT void Xil_DCacheInvalidateLine(intptr_t address) {
    core_maintain(CACHE_INVALIDATE, address, 1, CALLER);
}

// Linux.

enum direction { BIDIRECTIONAL, TO_DEVICE, FROM_DEVICE };

EXPORT uint64_t dma_map_single(void *device, void *address, size_t size, int direction) {
    (void)device, (void)direction;
    core_maintain(CACHE_CLEAN, (uintptr_t)address, size, CALLER);
    return (uintptr_t)address;
}

EXPORT void dma_sync_single_for_device(void *device, uint64_t address, size_t size,
                                       int direction) {
    (void)device, (void)direction;
    core_maintain(CACHE_CLEAN, address, size, CALLER);
}

EXPORT void dma_unmap_single(void *device, uint64_t address, size_t size, int direction) {
    (void)device;
    if (direction != TO_DEVICE) core_maintain(CACHE_INVALIDATE, address, size, CALLER);
}

EXPORT void dma_sync_single_for_cpu(void *device, uint64_t address, size_t size, int direction) {
    (void)device;
    if (direction != TO_DEVICE) core_maintain(CACHE_INVALIDATE, address, size, CALLER);
}

EXPORT void *dma_alloc_coherent(void *device, size_t size, uint64_t *handle, unsigned flags) {
    (void)device, (void)flags;
    size_t line = core_line_bytes();
    void *address = aligned_alloc(line, (size + line - 1) / line * line);
    if (address) zones_set((uintptr_t)address, size, 1);
    *handle = (uintptr_t)address;
    return address;
}

EXPORT void dma_free_coherent(void *device, size_t size, void *address, uint64_t handle) {
    (void)device, (void)handle;
    zones_set((uintptr_t)address, size, 0);
    free(address);
}
