// Dot product: each block adds its sum to the total in a critical section.
//
// Ref: Bugaroo Table I, `cbe_dot`; Figure 1.

#include "common.cuh"

template <Scope acquire, Scope release>
INLINE void dot_product(const unsigned *a, const unsigned *b, unsigned *total, unsigned *mutex,
                        unsigned count) {
  unsigned own = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    own += a[i] * b[i];
  const unsigned sum = sum_block(own);
  if (threadIdx.x == 0) {
    lock<acquire>(mutex);
    *total += sum;
    unlock<release>(mutex);
  }
}

#define DOT_PRODUCT(VARIANT, ACQUIRE, RELEASE)                                          \
  KERNEL(dot_product_##VARIANT)(const unsigned *a, const unsigned *b, unsigned *total,  \
                                unsigned *mutex, unsigned count) {                      \
    dot_product<ACQUIRE, RELEASE>(a, b, total, mutex, count);                           \
  }

DOT_PRODUCT(full, DEVICE, DEVICE)
DOT_PRODUCT(no_acquire, NONE, DEVICE)
DOT_PRODUCT(no_release, DEVICE, NONE)
DOT_PRODUCT(no_fence, NONE, NONE)
DOT_PRODUCT(acquire_block, BLOCK, DEVICE)
DOT_PRODUCT(release_block, DEVICE, BLOCK)
