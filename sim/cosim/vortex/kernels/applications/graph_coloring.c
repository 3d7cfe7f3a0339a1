/* GCOL of ScoR: all vertices choose a colour at once, the edges find those that clash, and these
   choose again.  A colour is a bit; none: not coloured.  Each launch runs over work queues, whose
   switches it has: phase 0 chooses, over vertices, 1 detects and 2 forbids, over edges.  An atomic OR is a load and an
   exchange under the lock of its vertex. */

#include "numbers.h"
#include "work_queue.h"

#define VERTICES 128
#define EDGES 128
/* Vertices spread their first choice over so many colours, so that few clash. */
#define SPREAD 4

unsigned result[VERTICES];
unsigned forbidden[VERTICES], tried[VERTICES], locks[VERTICES];
unsigned ends[2 * EDGES] = {NUMBERS_64(0), NUMBERS_64(64), NUMBERS_64(128), NUMBERS_64(192)};

static unsigned end_of(unsigned edge, unsigned side) { return ends[2 * edge + side] % VERTICES; }

static void choose(unsigned vertex) {
    if (result[vertex]) return;
    unsigned taken = forbidden[vertex] | tried[vertex];
    unsigned bit = (vertex * 0x9E3779B1u >> 16) % SPREAD;
    while (taken >> bit & 1) bit = (bit + 1) % 32;
    result[vertex] = 1u << bit;
    tried[vertex] = taken | 1u << bit;
}

static void detect(unsigned one, unsigned other) {
    if (one == other) return;
    if (atomic_load(result[one], SCOPE_DEVICE) == atomic_load(result[other], SCOPE_DEVICE))
        atomic_exchange(result[one], 0, SCOPE_DEVICE);
}

static void forbid(unsigned vertex, unsigned color) {
    lock(locks[vertex], SCOPE_DEVICE);
    unsigned old = atomic_load(forbidden[vertex], SCOPE_DEVICE);
    atomic_exchange(forbidden[vertex], old | color, SCOPE_DEVICE);
    unlock(locks[vertex], SCOPE_DEVICE);
}

void kernel(unsigned argument) {
    unsigned phase = argument % 3;
    if (phase == 0)
        for_each_item(argument, phase, VERTICES) each_lane choose(item);
    if (phase == 1)
        for_each_item(argument, phase, EDGES) {
            unsigned one = end_of(item, 0), other = end_of(item, 1);
            each_lane detect(one, other);
        }
    if (phase == 2)
        for_each_item(argument, phase, EDGES) {
            unsigned one = end_of(item, 0), other = end_of(item, 1);
            each_lane {
                if (!result[one]) forbid(one, result[other]);
                if (!result[other]) forbid(other, result[one]);
            }
        }
}
