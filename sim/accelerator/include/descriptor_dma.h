// DMA engine that works through a chain of descriptors in memory.
//
// It reads a descriptor by DMA, copies what the descriptor says, writes the descriptor's status,
// and takes the next one.
#ifndef DESCRIPTOR_DMA_H
#define DESCRIPTOR_DMA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dma_descriptor {
    uintptr_t source, target;  // 0: the engine's own data port
    uintptr_t next;            // 0: the last one
    uint32_t size;
    uint32_t status;           // the engine sets DESCRIPTOR_DONE
};

enum { DESCRIPTOR_DONE = 1u };

// Hands a chain to an engine.
void descriptor_dma_start(int engine, const volatile struct dma_descriptor *first);
// The data port: what the engine takes from a source of 0, and keeps for a target of 0.
void descriptor_dma_port(int engine, void *data, uint32_t size);
// Waits until the engine has worked through its chains.
void descriptor_dma_wait(int engine);

#ifdef __cplusplus
}
#endif

#endif
