// Histogram: each block counts in shared memory; then blocks merge in pairs, along a tree of flags.

#include "common.cuh"

// Values of a thread.
enum { VALUES = 4 };

// One bin a thread, a power of two of them.
template <Scope acquire, Scope release> INLINE void histogram(unsigned *bins, unsigned *flags) {
  __shared__ unsigned counts[1024];
  const unsigned thread = threadIdx.x, index = blockIdx.x * blockDim.x + thread;
  counts[thread] = 0;
  __syncthreads();
#pragma unroll 1
  for (unsigned value = 0; value < VALUES; ++value)
    atomicAdd(&counts[(scattered(index * VALUES + value) >> 16) % blockDim.x], 1u);
  __syncthreads();
  unsigned count = counts[thread];
#pragma unroll 1
  for (unsigned distance = 1; distance < gridDim.x; distance *= 2) {
    if (blockIdx.x & distance) break;
    const unsigned other = blockIdx.x + distance;
    if (other >= gridDim.x) continue;
    if (thread == 0) {
      while (load_relaxed(&flags[other]) == 0) {
      }
      fence<acquire>();
    }
    __syncthreads();
    count += bins[other * blockDim.x + thread];
  }
  bins[index] = count;
  __syncthreads();
  if (thread == 0) {
    fence<release>();
    store_relaxed(&flags[blockIdx.x], 1);
  }
}

#define HISTOGRAM(VARIANT, ACQUIRE, RELEASE)                                                     \
  KERNEL(histogram_##VARIANT)(unsigned *bins, unsigned *flags) {                                 \
    histogram<ACQUIRE, RELEASE>(bins, flags);                                                    \
  }

HISTOGRAM(full, DEVICE, DEVICE)
HISTOGRAM(no_acquire, NONE, DEVICE)
HISTOGRAM(no_release, DEVICE, NONE)
HISTOGRAM(no_fence, NONE, NONE)
HISTOGRAM(acquire_block, BLOCK, DEVICE)
HISTOGRAM(release_block, DEVICE, BLOCK)
