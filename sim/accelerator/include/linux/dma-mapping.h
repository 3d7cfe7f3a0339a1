// Linux' DMA interface for one device without coherent DMA, for programs recorded on the host.
//
// Maintenance is that of 64-bit Arm: memory is cleaned for the device, and invalidated for the
// CPU unless the device only reads.
#ifndef LINUX_DMA_MAPPING_H
#define LINUX_DMA_MAPPING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device;
typedef uint64_t dma_addr_t;
typedef unsigned gfp_t;

#ifndef GFP_KERNEL
#define GFP_KERNEL 0u
#endif

enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE, DMA_FROM_DEVICE, DMA_NONE };

dma_addr_t dma_map_single(struct device *device, void *address, size_t size,
                          enum dma_data_direction direction);
void dma_unmap_single(struct device *device, dma_addr_t address, size_t size,
                      enum dma_data_direction direction);
void dma_sync_single_for_cpu(struct device *device, dma_addr_t address, size_t size,
                             enum dma_data_direction direction);
void dma_sync_single_for_device(struct device *device, dma_addr_t address, size_t size,
                                enum dma_data_direction direction);
void *dma_alloc_coherent(struct device *device, size_t size, dma_addr_t *handle, gfp_t flags);
void dma_free_coherent(struct device *device, size_t size, void *address, dma_addr_t handle);

static inline int dma_mapping_error(struct device *device, dma_addr_t address) {
    (void)device;
    return address == 0;
}

#ifdef __cplusplus
}
#endif

#endif
