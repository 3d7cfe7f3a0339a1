// Ethernet reception: a ring of descriptors that the CPU and the MAC hand to each other.
//
// Two descriptors share a cache line: cached, the write-back of the one that the CPU hands over
// can overwrite the status that the MAC writes into its neighbour.  So they are uncached.
#include "program.h"
#include <core_cm7.h>

enum { MAC = 0, RING = 4, FRAME_BYTES = 64, OWNED_BY_MAC = 1u << 31 };

struct descriptor {
    uint32_t status, length;
    uint64_t buffer;
};

static struct descriptor ring[RING] __attribute__((aligned(LINE)));
static uint8_t buffers[RING][FRAME_BYTES] __attribute__((aligned(LINE)));

// The MAC's own memory.
static struct descriptor fetched[RING], finished[RING];
static uint8_t frames[RING][FRAME_BYTES];

struct arrival {
    int slot, number;
};

// A frame has arrived, and its descriptor has been fetched.
static void receive(void *argument)
{
    struct arrival arrival = *(struct arrival *)argument;
    int slot = arrival.slot;
    if (!(fetched[slot].status & OWNED_BY_MAC))
        return;  // no room: the frame is lost
    for (int i = 0; i < FRAME_BYTES; i++)
        frames[slot][i] = (uint8_t)noise(arrival.number * FRAME_BYTES + i);
    finished[slot].status = (uint32_t)arrival.number;
    finished[slot].length = FRAME_BYTES;
    racetrap_dma_write(MAC, buffers[slot], frames[slot], FRAME_BYTES);
    racetrap_dma_write(MAC, &ring[slot], &finished[slot], 2 * sizeof(uint32_t));
}

static void frame_arrives(int number)
{
    struct arrival arrival = {number % RING, number};
    racetrap_dma_read(MAC, &ring[arrival.slot], &fetched[arrival.slot], sizeof *ring);
    racetrap_device_run(MAC, receive, &arrival, sizeof arrival);
}

static void hand_over(struct descriptor *descriptor)
{
    descriptor->status = OWNED_BY_MAC;
    descriptor->length = 0;
    if (!has("uncached"))
        SCB_CleanDCache_by_Addr(descriptor, sizeof *descriptor);
}

int main(int count, char **arguments)
{
    int total_frames = read_arguments(count, arguments, 4, 1 << 20), errors = 0;
    uint32_t sum = 0;

    if (has("uncached"))
        racetrap_uncached(ring, sizeof ring);  // by the MPU
    for (int slot = 0; slot < RING; slot++) {
        ring[slot].buffer = (uintptr_t)buffers[slot];
        hand_over(&ring[slot]);
    }
    frame_arrives(0);
    for (int number = 0; number < total_frames; number++) {
        struct descriptor *descriptor = &ring[number % RING];
        uint8_t *buffer = buffers[number % RING];
        if (has("wait"))
            racetrap_sync(MAC);  // the interrupt of a frame
        frame_arrives(number + 1);
        if (!has("uncached"))
            SCB_InvalidateDCache_by_Addr(descriptor, sizeof *descriptor);
        errors += descriptor->status != (uint32_t)number || descriptor->length != FRAME_BYTES;
        if (has("invalidate"))
            SCB_InvalidateDCache_by_Addr(buffer, FRAME_BYTES);
        for (int i = 0; i < FRAME_BYTES; i++)
            sum = (sum ^ buffer[i]) * 0x01000193;
        hand_over(descriptor);
    }
    racetrap_sync(MAC);
    return result("eth_descriptors", errors, sum);
}
