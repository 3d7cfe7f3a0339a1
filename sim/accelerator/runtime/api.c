// The functions of racetrap_accelerator.h.
#include "core.h"

void core_check_engine(int engine) {
    if (engine < 0 || engine >= ENGINES)
        racetrap_die("Engine must be from 0 to %d, not %d", ENGINES - 1, engine);
}

void core_ask(const struct transfer *transfer, uint32_t pc) {
    core_check_engine(transfer->engine);
    if (transfer->rows > 1 && transfer->stride < transfer->size)
        racetrap_die("Stride of DMA must be at least the row's %zu bytes, not %zu",
                     transfer->size, transfer->stride);
    if (transfer->size && transfer->rows) core_transfer(transfer, pc);
}

EXPORT void racetrap_uncached(const volatile void *address, size_t size) {
    zones_set((uintptr_t)address, size, 1);
}

EXPORT void racetrap_cached(const volatile void *address, size_t size) {
    zones_set((uintptr_t)address, size, 0);
}

#define MAINTENANCE(name, kind)                                                          \
    EXPORT void racetrap_cache_##name(const volatile void *address, size_t size) {       \
        core_maintain(CACHE_##kind, (uintptr_t)address, size, CALLER);                   \
    }                                                                                    \
    EXPORT void racetrap_##name##_all(void) { core_maintain(kind##_ALL, 0, 0, CALLER); }

MAINTENANCE(flush, FLUSH)
MAINTENANCE(clean, CLEAN)
MAINTENANCE(invalidate, INVALIDATE)

static void transfer(enum kind kind, int engine, const volatile void *memory, const void *device,
                     size_t size, size_t rows, size_t stride, size_t device_stride, uint32_t pc) {
    core_ask(&(struct transfer){kind, engine, (uintptr_t)memory, (uintptr_t)device, size, rows,
                                stride, device_stride}, pc);
}

EXPORT void racetrap_dma_read(int engine, const volatile void *source, void *device,
                              size_t size) {
    transfer(DMA_READ, engine, source, device, size, 1, 0, 0, CALLER);
}

EXPORT void racetrap_dma_write(int engine, volatile void *target, const void *device,
                               size_t size) {
    transfer(DMA_WRITE, engine, target, device, size, 1, 0, 0, CALLER);
}

EXPORT void racetrap_dma_read_2d(int engine, const volatile void *source, void *device,
                                 size_t size, size_t rows, size_t stride, size_t device_stride) {
    transfer(DMA_READ, engine, source, device, size, rows, stride, device_stride, CALLER);
}

EXPORT void racetrap_dma_write_2d(int engine, volatile void *target, const void *device,
                                  size_t size, size_t rows, size_t stride,
                                  size_t device_stride) {
    transfer(DMA_WRITE, engine, target, device, size, rows, stride, device_stride, CALLER);
}

EXPORT void racetrap_device_run(int engine, void (*work)(void *), const void *argument,
                                size_t size) {
    core_check_engine(engine);
    core_run(engine, work, argument, size);
}

EXPORT void racetrap_sync(int engine) {
    core_check_engine(engine);
    core_sync(engine, CALLER);
}

EXPORT void racetrap_sync_all(void) { core_sync_all(CALLER); }
