/* Work queues of the graph applications: each block has a range of work, which it takes in chunks of
   one item for each thread; a block that has finished its own steals chunks of others.  Switches,
   each with the phase that has the error: NO_BARRIER_BEFORE_TAKE, BLOCK_SCOPE_STEAL,
   BLOCK_SCOPE_TAKE, NO_BARRIER_AFTER_TAKE. */

#ifndef WORK_QUEUE_H
#define WORK_QUEUE_H

#include "vortex.h"

#define MOST_BLOCKS 16
#define NO_WORK 0x7fffffffu
#define NO_PHASE ~0u

/* Of each launch: chunks that have been taken of each block's range. */
unsigned heads[64][MOST_BLOCKS];
/* First item of the chunk that a block works on, and the queue that it comes from. */
unsigned chunks[MOST_BLOCKS], owners[MOST_BLOCKS];

#ifndef NO_BARRIER_BEFORE_TAKE
#define NO_BARRIER_BEFORE_TAKE NO_PHASE
#endif
#ifndef BLOCK_SCOPE_STEAL
#define BLOCK_SCOPE_STEAL NO_PHASE
#endif
#ifndef BLOCK_SCOPE_TAKE
#define BLOCK_SCOPE_TAKE NO_PHASE
#endif
#ifndef NO_BARRIER_AFTER_TAKE
#define NO_BARRIER_AFTER_TAKE NO_PHASE
#endif

static unsigned head_of(unsigned queue, unsigned items) {
    return queue * (items / BLOCKS());
}

/* `chunk` is the first item as the warp has read it, which is `first` unless it has read too soon.
   All warps go by `first`: a barrier of this GPU waits for a warp that has left the queues. */
struct work_queue {
    unsigned chunk, first, end, queue, items, phase, *head;
};

/* By one lane: the number of a chunk of a queue that nobody has taken yet. */
static unsigned take(struct work_queue* work, unsigned queue, unsigned is_block_scope) {
    if (is_block_scope) return atomic_increment(work->head[queue], SCOPE_BLOCK);
    return atomic_increment(work->head[queue], SCOPE_DEVICE);
}

/* By one lane: the first item of a chunk of another block's range. */
static unsigned steal(struct work_queue* work) {
    unsigned victim = work->queue, range = work->items / BLOCKS();
    for (unsigned k = 1; k < BLOCKS(); k++) {
        victim = (work->queue + k) % BLOCKS();
        if ((atomic_load(work->head[victim], SCOPE_DEVICE) + 1) * THREADS() < range) break;
    }
    unsigned taken = take(work, victim, work->phase == BLOCK_SCOPE_STEAL) * THREADS();
    atomic_exchange(owners[BLOCK()], victim, SCOPE_BLOCK);
    return taken < range ? head_of(victim, work->items) + taken : NO_WORK;
}

static struct work_queue begin_queue(unsigned launch, unsigned phase, unsigned items) {
    struct work_queue work = {0, 0, 0, BLOCK(), items, phase, heads[launch]};
    unsigned* chunk = &chunks[BLOCK()];
    when (THREAD() == 0) {
        *chunk = head_of(work.queue, items) + take(&work, work.queue, 0) * THREADS();
        atomic_exchange(owners[BLOCK()], work.queue, SCOPE_BLOCK);
    }
    barrier();
    work.chunk = work.first = *chunk;
    work.end = head_of(work.queue + 1, items);
    return work;
}

static void next_chunk(struct work_queue* work) {
    unsigned* chunk = &chunks[BLOCK()];
    unsigned range = work->items / BLOCKS(), owner = 0;
    if (work->phase != NO_BARRIER_BEFORE_TAKE) barrier();
    when (THREAD() == 0) {
        unsigned taken = take(work, work->queue, work->phase == BLOCK_SCOPE_TAKE) * THREADS();
        *chunk = taken < range ? head_of(work->queue, work->items) + taken : NO_WORK;
    }
    if (work->phase == NO_BARRIER_AFTER_TAKE) work->chunk = *chunk;
    barrier();
    work->first = *chunk;
    if (work->phase != NO_BARRIER_AFTER_TAKE) work->chunk = work->first;
    if (work->first < work->end) return;
    barrier();
    when (THREAD() == 0) *chunk = steal(work);
    barrier();
    each_lane owner = atomic_load(owners[BLOCK()], SCOPE_BLOCK);
    work->queue = owner;
    work->chunk = work->first = *chunk;
    work->end = head_of(work->queue + 1, work->items);
}

/* Runs what follows for every `item` of every queue: a multiple of blocks and threads. */
#define for_each_item(launch, phase, items) \
    for (struct work_queue vx_queue = begin_queue(launch, phase, items); \
         vx_queue.first < vx_queue.end; next_chunk(&vx_queue)) \
        for (unsigned item = vx_queue.chunk + THREAD(), vx_last = 1; vx_last; vx_last = 0)

#endif
