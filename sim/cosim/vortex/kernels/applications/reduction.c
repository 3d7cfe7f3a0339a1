/* RED of ScoR: a tree in each block, whose levels wait for each other by flags; the last block to
   finish sums the sums of all blocks.  Switches: NO_FLAG_FENCE, BLOCK_SCOPE_FENCE. */

#include "numbers.h"
#include "vortex.h"

#define COUNT 256
#define MOST_BLOCKS 16

unsigned input[COUNT] = {NUMBERS_64(0), NUMBERS_64(64), NUMBERS_64(128), NUMBERS_64(192)};
unsigned slots[MOST_BLOCKS][16];
unsigned flags[MOST_BLOCKS][16];
unsigned sums[MOST_BLOCKS];
unsigned finished_blocks;
unsigned is_last[MOST_BLOCKS];
unsigned result[1];

/* Sum over the 16 threads of a block, left in own[0]. */
static void sum_block(unsigned* own, unsigned* flag, unsigned sum) {
    unsigned t = THREAD();
    VOLATILE(own[t]) = sum;
    each_lane atomic_exchange(flag[t], 0, SCOPE_BLOCK);
    barrier();
    when (t < 8) sum += VOLATILE(own[t + 8]);
    when (t / 4 == 1) {
        VOLATILE(own[t]) = sum;
#ifndef NO_FLAG_FENCE
        fence_block();
#endif
        each_lane atomic_exchange(flag[t], 1, SCOPE_BLOCK);
    }
    when (t < 4) {
        each_lane while (atomic_load(flag[t + 4], SCOPE_BLOCK) != 1) {}
        fence_block();
        /* One warp: its lanes run together. */
        for (unsigned distance = 4; distance; distance /= 2) {
            sum += VOLATILE(own[t + distance]);
            VOLATILE(own[t]) = sum;
        }
    }
}

void kernel(unsigned argument) {
    (void)argument;
    unsigned block = BLOCK(), blocks = BLOCKS(), sum = 0;
    for (unsigned i = block * THREADS() + THREAD(); i < COUNT; i += blocks * THREADS())
        sum += input[i];
    sum_block(slots[block], flags[block], sum);
    when (THREAD() == 0) VOLATILE(sums[block]) = VOLATILE(slots[block][0]);
#ifdef BLOCK_SCOPE_FENCE
    fence_block();
#else
    fence_device();
#endif
    when (THREAD() == 0)
        is_last[block] = atomic_increment(finished_blocks, SCOPE_DEVICE) == blocks - 1;
    barrier();
    if (!is_last[block]) return;

    sum = 0;
    for (unsigned first = 0; first < blocks; first += THREADS())
        when (first + THREAD() < blocks) sum += VOLATILE(sums[first + THREAD()]);
    sum_block(slots[block], flags[block], sum);
    when (THREAD() == 0) result[0] = VOLATILE(slots[block][0]);
}
