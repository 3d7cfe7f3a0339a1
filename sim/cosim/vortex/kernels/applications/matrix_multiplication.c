/* MM of ScoR: the warps of a block sum products under locks of block scope, the blocks that share a
   row of the result add their sums under locks of device scope.  Switches: NO_ACQUIRE_FENCE,
   NO_RELEASE_FENCE, BLOCK_SCOPE_LOCK, BLOCK_SCOPE_FENCE. */

#include "numbers.h"
#include "vortex.h"

#define ROWS 4
#define INNER 16
#define COLUMNS 4
#define DEPTH 2
#define LANES 4
#define MOST_BLOCKS 16

unsigned a[ROWS * INNER] = {NUMBERS_64(0)};
unsigned b[INNER * COLUMNS] = {NUMBERS_64(64)};
unsigned result[ROWS * COLUMNS];
unsigned sums[MOST_BLOCKS * LANES];
unsigned block_locks[MOST_BLOCKS * LANES];
unsigned grid_locks[ROWS * COLUMNS];

#ifdef BLOCK_SCOPE_LOCK
#define SCOPE_LOCK SCOPE_BLOCK
#else
#define SCOPE_LOCK SCOPE_DEVICE
#endif

static void add_in_block(unsigned* sum, unsigned* own_lock, unsigned value) {
    lock(*own_lock, SCOPE_BLOCK);
#ifdef NO_ACQUIRE_FENCE
    /* Only some warps lack it: ScoRD knows a lock by its fence. */
    if (!WARP())
#endif
        fence_block();
    VOLATILE(*sum) += value;
#ifndef NO_RELEASE_FENCE
    fence_block();
#endif
    unlock(*own_lock, SCOPE_BLOCK);
}

static void add_in_grid(unsigned* total, unsigned* sum, unsigned* grid_lock) {
    lock(*grid_lock, SCOPE_LOCK);
#ifdef BLOCK_SCOPE_FENCE
    fence_block();
#else
    fence_device();
#endif
    VOLATILE(*total) += VOLATILE(*sum);
    fence_device();
    unlock(*grid_lock, SCOPE_DEVICE);
}

void kernel(unsigned argument) {
    (void)argument;
    unsigned lane = LANE(), warp = WARP(), warps = WARPS(), block = BLOCK();
    unsigned slices = INNER / (warps * DEPTH), first = (block % slices * warps + warp) * DEPTH;
    unsigned *sum = &sums[block * LANES + lane], *own_lock = &block_locks[block * LANES + lane];
    for (unsigned row = block / slices; row < ROWS; row += BLOCKS() / slices) {
        if (!warp) VOLATILE(*sum) = 0;
        barrier();
        for (unsigned k = first; k < first + DEPTH; k++) {
            unsigned product = a[row * INNER + k] * b[k * COLUMNS + lane];
            each_lane add_in_block(sum, own_lock, product);
        }
        barrier();
        if (!warp) {
            unsigned place = row * COLUMNS + lane;
            each_lane add_in_grid(&result[place], sum, &grid_locks[place]);
        }
        barrier();
    }
}
