/* R110 of ScoR: a step of the cellular automaton in each launch.  A thread waits for its two
   neighbours by flags: of block scope, or of device scope where the neighbour is in another block.
   Switches: BLOCK_SCOPE_FENCE, BLOCK_SCOPE_WAIT. */

#include "numbers.h"
#include "vortex.h"

#define CELLS 128
#define CELL(n) (NUMBER(n) & 1)
#define CELLS_4(n) CELL(n), CELL((n) + 1), CELL((n) + 2), CELL((n) + 3)
#define CELLS_16(n) CELLS_4(n), CELLS_4((n) + 4), CELLS_4((n) + 8), CELLS_4((n) + 12)
#define CELLS_64(n) CELLS_16(n), CELLS_16((n) + 16), CELLS_16((n) + 32), CELLS_16((n) + 48)

unsigned result[CELLS] = {CELLS_64(0), CELLS_64(64)};
unsigned copy[CELLS];
unsigned flags[CELLS];

static void await_in_block(unsigned* flag, unsigned step) {
    while (atomic_load(*flag, SCOPE_BLOCK) != step) {}
}

static void await_in_grid(unsigned* flag, unsigned step) {
    while (atomic_load(*flag, SCOPE_DEVICE) != step) {}
}

#ifdef BLOCK_SCOPE_WAIT
#define await_right await_in_block
#else
#define await_right await_in_grid
#endif

static void publish(unsigned* flag, unsigned step, int is_border) {
    when (is_border) {
#ifdef BLOCK_SCOPE_FENCE
        fence_block();
#else
        fence_device();
#endif
        each_lane if (is_border) atomic_exchange(*flag, step, SCOPE_DEVICE);
    }
    when (!is_border) {
        fence_block();
        each_lane if (!is_border) atomic_exchange(*flag, step, SCOPE_BLOCK);
    }
}

void kernel(unsigned argument) {
    unsigned step = argument + 1;
    int t = THREAD(), last = THREADS() - 1, threads = THREADS() * BLOCKS();
    int g = BLOCK() * THREADS() + t;
    unsigned* left_flag = &flags[(threads + g - 1) % threads];
    unsigned* right_flag = &flags[(g + 1) % threads];

    /* All blocks begin at once here: every other one is late, so that some wait for it. */
    for (unsigned n = 0; n < 60 * (BLOCK() & 1); n++) __asm__ volatile("");
    for (int i = g; i < CELLS; i += threads) VOLATILE(copy[i]) = result[i];
    publish(&flags[g], step, (t == 0) | (t == last));

    /* The flag of a border thread has device scope for its neighbours in the block as well. */
    each_lane {
        if (t <= 1)
            await_in_grid(left_flag, step);
        else
            await_in_block(left_flag, step);
    }
    when (t <= 1) fence_device();
    when (t > 1) fence_block();
    for (int i = g; i < CELLS; i += threads) {
        unsigned left = 0;
        when (i > 0) left = VOLATILE(copy[i - 1]);
        result[i] = left;
    }

    each_lane {
        if (t >= last - 1)
            await_right(right_flag, step);
        else
            await_in_block(right_flag, step);
    }
    when (t >= last - 1) fence_device();
    when (t < last - 1) fence_block();
    for (int i = g; i < CELLS; i += threads) {
        unsigned right = 0;
        when (i + 1 < CELLS) right = VOLATILE(copy[i + 1]);
        unsigned pattern = result[i] << 2 | VOLATILE(copy[i]) << 1 | right;
        result[i] = 110 >> pattern & 1;
    }
}
