// Reduction: the block that takes the last ticket adds the sums of all blocks.
//
// Ref: Bugaroo Table I, `sdk_red`; Section IV-D.

#include "common.cuh"

template <Scope release, Scope acquire>
INLINE void reduction(const unsigned *input, unsigned *sums, unsigned *total, unsigned *tickets,
                      unsigned count) {
  __shared__ bool is_last;
  const unsigned thread = threadIdx.x;
  unsigned own = 0;
  for (unsigned i = blockIdx.x * blockDim.x + thread; i < count; i += gridDim.x * blockDim.x)
    own += input[i];
  const unsigned sum = sum_block(own);
  if (thread == 0) {
    sums[blockIdx.x] = sum;
    fence<release>();
    is_last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    fence<acquire>();
  }
  __syncthreads();
  if (!is_last) return;
  own = 0;
  for (unsigned block = thread; block < gridDim.x; block += blockDim.x) own += sums[block];
  const unsigned all = sum_block(own);
  if (thread == 0) *total = all;
}

#define REDUCTION(VARIANT, RELEASE, ACQUIRE)                                       \
  KERNEL(reduction_##VARIANT)(const unsigned *input, unsigned *sums, unsigned *total, \
                              unsigned *tickets, unsigned count) {                 \
    reduction<RELEASE, ACQUIRE>(input, sums, total, tickets, count);               \
  }

REDUCTION(full, DEVICE, DEVICE)
REDUCTION(no_acquire, DEVICE, NONE)
REDUCTION(no_release, NONE, DEVICE)
REDUCTION(no_fence, NONE, NONE)
REDUCTION(release_block, BLOCK, DEVICE)
REDUCTION(acquire_block, DEVICE, BLOCK)
