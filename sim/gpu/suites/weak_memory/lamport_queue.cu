// Lamport's queue: a ring between one producer and one consumer, which only they move along.
//
// Ref: Lamport (Proving the Correctness of Multiprocess Programs, 1977).

#include "common.cuh"

enum { SLOTS = 2, ITEMS = 6 };

struct Queue {
  unsigned *slots, *head, *tail;
};

template <Scope acquire, Scope release> INLINE void produce(Queue queue) {
#pragma unroll 1
  for (unsigned item = 0; item < ITEMS; ++item) {
    while (item - load_relaxed(queue.head) == SLOTS) {
    }
    fence<acquire>();
    queue.slots[item % SLOTS] = item + 1;
    fence<release>();
    store_relaxed(queue.tail, item + 1);
  }
}

template <Scope acquire, Scope release> INLINE void consume(Queue queue, unsigned *items) {
#pragma unroll 1
  for (unsigned item = 0; item < ITEMS; ++item) {
    while (load_relaxed(queue.tail) == item) {
    }
    fence<acquire>();
    items[item] = queue.slots[item % SLOTS];
    fence<release>();
    store_relaxed(queue.head, item + 1);
  }
}

// Blocks in pairs, with a queue each.
template <Scope acquire_head, Scope release_tail, Scope acquire_tail, Scope release_head>
INLINE void lamport_queue(unsigned *items, Queue queues) {
  if (threadIdx.x != 0) return;
  const unsigned pair = blockIdx.x / 2;
  const Queue queue{queues.slots + pair * SLOTS, queues.head + pair, queues.tail + pair};
  if (blockIdx.x % 2 == 0)
    produce<acquire_head, release_tail>(queue);
  else
    consume<acquire_tail, release_head>(queue, items + pair * ITEMS);
}

#define LAMPORT_QUEUE(VARIANT, ACQUIRE_HEAD, RELEASE_TAIL, ACQUIRE_TAIL, RELEASE_HEAD)           \
  KERNEL(lamport_queue_##VARIANT)(unsigned *items, unsigned *slots, unsigned *head,              \
                                  unsigned *tail) {                                              \
    lamport_queue<ACQUIRE_HEAD, RELEASE_TAIL, ACQUIRE_TAIL, RELEASE_HEAD>(                       \
        items, Queue{slots, head, tail});                                                        \
  }

LAMPORT_QUEUE(full, DEVICE, DEVICE, DEVICE, DEVICE)
LAMPORT_QUEUE(no_acquire_head, NONE, DEVICE, DEVICE, DEVICE)
LAMPORT_QUEUE(no_release_tail, DEVICE, NONE, DEVICE, DEVICE)
LAMPORT_QUEUE(no_acquire_tail, DEVICE, DEVICE, NONE, DEVICE)
LAMPORT_QUEUE(no_release_head, DEVICE, DEVICE, DEVICE, NONE)
LAMPORT_QUEUE(release_tail_block, DEVICE, BLOCK, DEVICE, DEVICE)
