// Scatter-gather: a chain of descriptors gathers buffers that lie anywhere into one packet.
#include "program.h"
#include <descriptor_dma.h>
#include <xil_cache.h>

enum { DMA = 0, PARTS = 3, PART = 40 };

static struct {
    uint8_t parts[PARTS][PART];
    volatile uint32_t packets;
} sources __attribute__((aligned(LINE)));
static struct dma_descriptor chain[PARTS] __attribute__((aligned(LINE)));
static struct {
    volatile uint32_t received;  // without alignment the packet begins in its line
    uint8_t unaligned[PARTS * PART];
    volatile uint32_t bytes;
} packet __attribute__((aligned(LINE)));
static uint8_t aligned_packet[(PARTS * PART + LINE - 1) / LINE * LINE]
    __attribute__((aligned(LINE)));

int main(int count, char **arguments)
{
    int packets = read_arguments(count, arguments, 2, 1 << 20), errors = 0;
    uint8_t *target = has("alignment") ? aligned_packet : packet.unaligned;
    uint32_t sum = 0;

    for (int number = 0; number < packets; number++) {
        for (int part = 0; part < PARTS; part++) {
            for (int i = 0; i < PART; i++)
                sources.parts[part][i] = (uint8_t)noise(number * 1000 + part * 100 + i);
            chain[part].source = (uintptr_t)sources.parts[part];
            chain[part].target = (uintptr_t)(target + part * PART);
            chain[part].next = part + 1 < PARTS ? (uintptr_t)&chain[part + 1] : 0;
            chain[part].size = PART;
            chain[part].status = 0;
        }
        if (has("flush-sources"))
            Xil_DCacheFlushRange((intptr_t)sources.parts, PARTS * PART);
        if (has("flush-chain"))
            Xil_DCacheFlushRange((intptr_t)chain, sizeof chain);
        descriptor_dma_start(DMA, chain);
        packet.received++;
        packet.bytes += PARTS * PART;
        if (has("wait"))
            descriptor_dma_wait(DMA);
        if (has("invalidate-chain"))
            Xil_DCacheInvalidateRange((intptr_t)chain, sizeof chain);
        for (int part = 0; part < PARTS; part++)
            errors += chain[part].status != DESCRIPTOR_DONE;
        if (has("invalidate"))
            Xil_DCacheInvalidateRange((intptr_t)target, PARTS * PART);
        for (int i = 0; i < PARTS * PART; i++)
            sum = (sum ^ target[i]) * 0x01000193;
    }
    descriptor_dma_wait(DMA);
    sources.packets = packet.received;
    errors += sources.packets != (uint32_t)packets;
    return result("scatter_gather", errors, sum);
}
