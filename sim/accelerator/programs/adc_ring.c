// ADC samples by circular DMA into a ring of two halves; the CPU works on one while the other
// fills.
#include "program.h"
#include <core_cm7.h>

enum { ADC = 0, HALF = 64 };

// Without alignment the ring begins behind a counter in the same line.
static struct {
    volatile uint32_t overruns;
    uint16_t unaligned[2 * HALF];
    volatile uint32_t rounds;
} acquisition __attribute__((aligned(LINE)));
static uint16_t aligned_ring[2 * HALF] __attribute__((aligned(LINE)));
static uint16_t converted[2 * HALF];

// What the converter delivers next: the device's own.
static void convert(void *round)
{
    int half = *(int *)round % 2;
    for (int i = 0; i < HALF; i++)
        converted[half * HALF + i] = (uint16_t)noise(*(int *)round * HALF + i);
}

static void start_half(uint16_t *ring, int round)
{
    int half = round % 2;
    racetrap_device_run(ADC, convert, &round, sizeof round);
    racetrap_dma_write(ADC, ring + half * HALF, converted + half * HALF, HALF * sizeof *ring);
}

int main(int count, char **arguments)
{
    int rounds = read_arguments(count, arguments, 4, 1 << 20);
    uint16_t *ring = has("alignment") ? aligned_ring : acquisition.unaligned;
    uint32_t total = 0;

    start_half(ring, 0);
    for (int round = 0; round < rounds; round++) {
        uint16_t *ready = ring + round % 2 * HALF;
        if (has("wait"))
            racetrap_sync(ADC);  // the interrupt at half or end of the ring
        start_half(ring, round + 1);
        acquisition.overruns += round == 3;
        acquisition.rounds++;
        if (has("invalidate"))
            SCB_InvalidateDCache_by_Addr(ready, HALF * sizeof *ready);
        for (int i = 0; i < HALF; i++)
            total = (total ^ ready[i]) * 0x01000193;
    }
    racetrap_sync(ADC);
    return result("adc_ring", (int)acquisition.overruns - 1 + (int)acquisition.rounds - rounds,
                  total);
}
