// The functions of descriptor_dma.h: a device made of the calls of racetrap_accelerator.h.

#include "../include/descriptor_dma.h"
#include "../include/racetrap_accelerator.h"
#include "core.h"

#define LARGEST 65536u

static struct channel {
    struct dma_descriptor fetched;
    unsigned char buffer[LARGEST], *port;
    uint32_t port_bytes;
} channels[ENGINES];

static void fetch(int engine, uintptr_t descriptor, uint32_t pc);

struct step {
    int engine;
    uintptr_t descriptor;
    uint32_t pc;
};

// Works on the descriptor that has been fetched.
static void work(void *argument) {
    static const uint32_t done = DESCRIPTOR_DONE;
    struct step step = *(struct step *)argument;
    struct channel *channel = &channels[step.engine];
    struct dma_descriptor *fetched = &channel->fetched;
    uint32_t size = fetched->size < LARGEST ? fetched->size : LARGEST;
    unsigned char *data = channel->buffer;
    if (!fetched->source || !fetched->target) {
        data = channel->port;
        size = size < channel->port_bytes ? size : channel->port_bytes;
    }
    if (!data || !size) return;
    struct transfer transfer = {DMA_READ, step.engine, fetched->source, (uintptr_t)data, size, 1,
                                0, 0};
    if (fetched->source) core_transfer(&transfer, step.pc);
    transfer.kind = DMA_WRITE;
    transfer.memory = fetched->target;
    if (fetched->target) core_transfer(&transfer, step.pc);
    struct dma_descriptor *place = (struct dma_descriptor *)step.descriptor;
    core_transfer(&(struct transfer){DMA_WRITE, step.engine, (uintptr_t)&place->status,
                                    (uintptr_t)&done, sizeof done, 1, 0, 0}, step.pc);
    if (fetched->next) fetch(step.engine, fetched->next, step.pc);
}

static void fetch(int engine, uintptr_t descriptor, uint32_t pc) {
    struct step step = {engine, descriptor, pc};
    core_transfer(&(struct transfer){DMA_READ, engine, descriptor,
                                    (uintptr_t)&channels[engine].fetched,
                                    sizeof(struct dma_descriptor), 1, 0, 0}, pc);
    core_run(engine, work, &step, sizeof step);
}

EXPORT void descriptor_dma_start(int engine, const volatile struct dma_descriptor *first) {
    core_check_engine(engine);
    fetch(engine, (uintptr_t)first, CALLER);
}

EXPORT void descriptor_dma_port(int engine, void *data, uint32_t size) {
    core_check_engine(engine);
    channels[engine].port = data;
    channels[engine].port_bytes = size;
}

EXPORT void descriptor_dma_wait(int engine) {
    core_check_engine(engine);
    core_sync(engine, CALLER);
}
