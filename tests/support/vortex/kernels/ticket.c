/* Sum of an array by all blocks; the last to finish adds the parts of all.

   FENCE: what orders a part before the count; by default nothing. */

#include "vortex.h"

#ifndef FENCE
#define FENCE() ((void)0)
#endif

#define MOST_BLOCKS 64

unsigned parts[MOST_BLOCKS] __attribute__((aligned(128)));
unsigned count __attribute__((aligned(128)));
unsigned result[1] __attribute__((aligned(128)));

void kernel(unsigned argument) {
    (void)argument;
    when (THREAD() == 0) {
        unsigned sum = 0;
        for (unsigned n = 0; n < 8; n++) sum += 8 * BLOCK() + n;
        parts[BLOCK()] = sum;
        FENCE();
        unsigned before = atomic_increment(count, SCOPE_DEVICE);
        when (before == BLOCKS() - 1) {
            FENCE();
            unsigned total = 0;
            for (unsigned n = 0; n < BLOCKS(); n++) total += parts[n];
            result[0] = total;
        }
    }
}
