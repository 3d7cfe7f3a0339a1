// Publication by a flag: a block writes a page and raises a flag; the others wait and read it.

#include "common.cuh"

// How the flag is stored and loaded: behind and before fences, or by operations with an order.
enum Flag { PLAIN, ORDERED, ORDERED_BLOCK };

template <Flag flag> INLINE void raise(unsigned *place) {
  if (flag == PLAIN) store_relaxed(place, 1);
  if (flag == ORDERED)
    __nv_atomic_store_n(place, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  if (flag == ORDERED_BLOCK)
    __nv_atomic_store_n(place, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
}

template <Flag flag> INLINE bool is_raised(unsigned *place) {
  if (flag == PLAIN) return load_relaxed(place);
  if (flag == ORDERED)
    return __nv_atomic_load_n(place, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  return __nv_atomic_load_n(place, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
}

template <Scope acquire, Scope release, Flag flag>
INLINE void publication(unsigned *page, unsigned *copies, unsigned *place) {
  const unsigned thread = threadIdx.x;
  if (blockIdx.x == 0) {
    page[thread] = scattered(thread);
    __syncthreads();
    if (thread == 0) {
      fence<release>();
      raise<flag>(place);
    }
  } else {
    if (thread == 0) {
      while (!is_raised<flag>(place)) {
      }
      fence<acquire>();
    }
    __syncthreads();
    copies[(blockIdx.x - 1) * blockDim.x + thread] = page[thread];
  }
}

#define PUBLICATION(VARIANT, ACQUIRE, RELEASE, FLAG)                                             \
  KERNEL(publication_##VARIANT)(unsigned *page, unsigned *copies, unsigned *flag) {              \
    publication<ACQUIRE, RELEASE, FLAG>(page, copies, flag);                                     \
  }

PUBLICATION(full, DEVICE, DEVICE, PLAIN)
PUBLICATION(no_acquire, NONE, DEVICE, PLAIN)
PUBLICATION(no_release, DEVICE, NONE, PLAIN)
PUBLICATION(no_fence, NONE, NONE, PLAIN)
PUBLICATION(acquire_block, BLOCK, DEVICE, PLAIN)
PUBLICATION(release_block, DEVICE, BLOCK, PLAIN)
PUBLICATION(ordered, NONE, NONE, ORDERED)
PUBLICATION(ordered_block, NONE, NONE, ORDERED_BLOCK)
