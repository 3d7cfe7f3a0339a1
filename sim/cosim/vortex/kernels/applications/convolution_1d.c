/* 1DC of ScoR: one thread for each product, summed by atomics; of block scope if all products of an
   output come from one block.  Switch: BLOCK_SCOPE_BORDER. */

#include "numbers.h"
#include "vortex.h"

#define OUTPUTS 64
#define TAPS 9

unsigned input[OUTPUTS] = {NUMBERS_64(0)};
unsigned filter[] = {NUMBERS_4(64), NUMBERS_4(68), NUMBER(72)};
unsigned result[OUTPUTS];

#ifdef BLOCK_SCOPE_BORDER
#define SCOPE_BORDER SCOPE_BLOCK
#else
#define SCOPE_BORDER SCOPE_DEVICE
#endif

void kernel(unsigned argument) {
    (void)argument;
    int thread = THREAD(), threads = THREADS(), stride = threads * BLOCKS();
    /* Whole rounds of all threads: no lane leaves the loop before another. */
    for (int product = BLOCK() * threads + thread; product < OUTPUTS * TAPS; product += stride) {
        int tap = product % TAPS, o = product / TAPS, i = o - (tap - TAPS / 2);
        unsigned value = 0;
        when ((unsigned)i < OUTPUTS) value = input[i] * filter[tap];
        each_lane {
            /* All products of this output are made by the threads around this one. */
            if (thread >= tap && threads - thread >= TAPS - tap)
                atomic_add(result[o], value, SCOPE_BLOCK);
            else
                atomic_add(result[o], value, SCOPE_BORDER);
        }
    }
}
