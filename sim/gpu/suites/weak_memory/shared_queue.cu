// Queue in shared memory between the two warps of a block: what Lamport's queue is between blocks.

#include "common.cuh"

enum { SLOTS = 2, ITEMS = 4 };

INLINE unsigned load_in_block(unsigned *place) {
  return __nv_atomic_load_n(place, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
}

INLINE void store_in_block(unsigned *place, unsigned value) {
  __nv_atomic_store_n(place, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
}

template <Scope acquire, Scope release>
INLINE void shared_queue(const unsigned *input, unsigned *items) {
  __shared__ unsigned slots[SLOTS], head, tail;
  if (threadIdx.x == 0) head = tail = 0;
  __syncthreads();
  const unsigned first = blockIdx.x * ITEMS;
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (unsigned item = 0; item < ITEMS; ++item) {
      while (item - load_in_block(&head) == SLOTS) {
      }
      fence<acquire>();
      slots[item % SLOTS] = input[first + item] + 1;
      fence<release>();
      store_in_block(&tail, item + 1);
    }
  } else if (threadIdx.x == 32) {
#pragma unroll 1
    for (unsigned item = 0; item < ITEMS; ++item) {
      while (load_in_block(&tail) == item) {
      }
      fence<acquire>();
      items[first + item] = slots[item % SLOTS];
      fence<release>();
      store_in_block(&head, item + 1);
    }
  }
}

#define SHARED_QUEUE(VARIANT, ACQUIRE, RELEASE)                                                  \
  KERNEL(shared_queue_##VARIANT)(const unsigned *input, unsigned *items) {                       \
    shared_queue<ACQUIRE, RELEASE>(input, items);                                                \
  }

SHARED_QUEUE(full, BLOCK, BLOCK)
SHARED_QUEUE(no_acquire, NONE, BLOCK)
SHARED_QUEUE(no_release, BLOCK, NONE)
SHARED_QUEUE(no_fence, NONE, NONE)
SHARED_QUEUE(device, DEVICE, DEVICE)
