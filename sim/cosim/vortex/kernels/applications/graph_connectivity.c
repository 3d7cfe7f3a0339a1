/* GCON of ScoR: every vertex points to a smaller one of its component, at the end to the smallest.
   Three launches, each over work queues,
   whose switches it has: phase 0 begins, 1 links, 2 compresses.  A CAS of a parent is a load and an
   exchange under the lock of its vertex. */

#include "numbers.h"
#include "work_queue.h"

#define VERTICES 192
#define EDGES 128

unsigned result[VERTICES];
unsigned locks[VERTICES];
unsigned ends[2 * EDGES] = {NUMBERS_64(0), NUMBERS_64(64), NUMBERS_64(128), NUMBERS_64(192)};

static unsigned parent_of(unsigned vertex) { return atomic_load(result[vertex], SCOPE_DEVICE); }

static unsigned compare_and_swap(unsigned vertex, unsigned due, unsigned parent) {
    lock(locks[vertex], SCOPE_DEVICE);
    unsigned old = parent_of(vertex);
    if (old == due) atomic_exchange(result[vertex], parent, SCOPE_DEVICE);
    unlock(locks[vertex], SCOPE_DEVICE);
    return old;
}

static void join(unsigned one, unsigned other) {
    one = parent_of(one);
    other = parent_of(other);
    while (one != other) {
        unsigned high = one > other ? one : other, low = one < other ? one : other;
        unsigned old = compare_and_swap(high, high, low);
        if (old == high || old == low) break;
        one = parent_of(parent_of(high));
        other = parent_of(low);
    }
}

static void compress(unsigned vertex) {
    unsigned parent = parent_of(vertex), grandparent = parent_of(parent);
    while (parent != grandparent) {
        unsigned old = compare_and_swap(vertex, parent, grandparent);
        parent = old == parent ? grandparent : parent_of(vertex);
        grandparent = parent_of(parent);
    }
}

void kernel(unsigned argument) {
    unsigned phase = argument % 3;
    if (phase == 0)
        for_each_item(argument, phase, VERTICES) VOLATILE(result[item]) = item;
    if (phase == 1)
        for_each_item(argument, phase, EDGES) {
            unsigned one = ends[2 * item] % VERTICES, other = ends[2 * item + 1] % VERTICES;
            each_lane join(one, other);
        }
    if (phase == 2)
        for_each_item(argument, phase, VERTICES) each_lane compress(item);
}
