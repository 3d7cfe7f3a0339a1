// Accelerators, caches and memory regions of a program that is recorded or tried on the host.
//
// A platform layer calls these functions where the target's would touch hardware.  The headers
// beside this one have the names that drivers use; they are built on this one:
//
//     core_cm7.h            CMSIS, Cortex-M7: SCB_CleanDCache_by_Addr ...
//     xil_cache.h           Xilinx: Xil_DCacheFlushRange ...
//     linux/dma-mapping.h   Linux: dma_map_single, dma_sync_single_for_cpu ...
//     vbx.h                 in the manner of VectorBlox MXP: vbx_dma_to_vector, vbx_sync ...
//     descriptor_dma.h      an engine that works through a chain of descriptors in memory
#ifndef RACETRAP_ACCELERATOR_H
#define RACETRAP_ACCELERATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Engines are numbered from 0.
#define RACETRAP_ENGINES 64

// From here on the CPU bypasses the cache in these bytes, or uses it again.
void racetrap_uncached(const volatile void *address, size_t size);
void racetrap_cached(const volatile void *address, size_t size);

// Maintenance of all lines that a range touches, or of the whole cache.  Flush writes back and
// invalidates, clean writes back, invalidate drops.
void racetrap_cache_flush(const volatile void *address, size_t size);
void racetrap_cache_clean(const volatile void *address, size_t size);
void racetrap_cache_invalidate(const volatile void *address, size_t size);
void racetrap_flush_all(void);
void racetrap_clean_all(void);
void racetrap_invalidate_all(void);

// Requests that an engine read memory into its own, or write its own into memory.  It does so at
// some time after the call, after all earlier requests, and before the next sync returns.
// Memory at `device` belongs to the device: the CPU must not touch it in the meantime.
void racetrap_dma_read(int engine, const volatile void *source, void *device, size_t size);
void racetrap_dma_write(int engine, volatile void *target, const void *device, size_t size);

// The same for rows of `size` bytes, each `stride` bytes of memory behind the one before.
void racetrap_dma_read_2d(int engine, const volatile void *source, void *device, size_t size,
                          size_t rows, size_t stride, size_t device_stride);
void racetrap_dma_write_2d(int engine, volatile void *target, const void *device, size_t size,
                           size_t rows, size_t stride, size_t device_stride);

// Has an engine work on its own memory, in turn with its DMA.  `argument` is copied.  Accesses of
// the work are not the CPU's; DMA that it requests of the same engine comes directly after it.
void racetrap_device_run(int engine, void (*work)(void *argument), const void *argument,
                         size_t size);

// Waits until an engine, or all of them, have completed all requests.
void racetrap_sync(int engine);
void racetrap_sync_all(void);

#ifdef __cplusplus
}
#endif

#endif
