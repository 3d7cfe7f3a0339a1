// Prefix sums in a single pass: a tile looks back at the sums of those before it; then all blocks
// meet at a barrier of the grid, and move the sums of other tiles.
//
// Ref: Bugaroo Table I, `cub_scan`; Figure 6.

#include "common.cuh"

// What is known of a tile: nothing, the sum of its own elements, the sum up to its end.
enum { UNKNOWN, PARTIAL, INCLUSIVE };

struct Tiles {
  unsigned *status, *partial, *inclusive;
};

// Sum of all elements before a tile of this sum.
template <Scope f2, Scope f3, Scope acquire>
INLINE unsigned look_back(Tiles tiles, unsigned tile, unsigned sum) {
  unsigned before = 0;
  if (tile > 0) {
    tiles.partial[tile] = sum;
    fence<f3>();
    store_relaxed(&tiles.status[tile], PARTIAL);
    for (unsigned other = tile - 1;; --other) {
      unsigned status;
      while ((status = load_relaxed(&tiles.status[other])) == UNKNOWN) {
      }
      fence<acquire>();
      if (status == INCLUSIVE) {
        before += tiles.inclusive[other];
        break;
      }
      before += tiles.partial[other];
    }
  }
  tiles.inclusive[tile] = before + sum;
  fence<f2>();
  store_relaxed(&tiles.status[tile], INCLUSIVE);
  return before;
}

// Barrier of all blocks.  `early` has its fence before the block's own barrier, as in CUB.
template <Scope f1, bool early, Scope acquire> INLINE void grid_barrier(volatile unsigned *arrived) {
  if (early) fence<f1>();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!early) fence<f1>();
    if (blockIdx.x == 0) {
      for (unsigned block = 1; block < gridDim.x; ++block)
        while (arrived[block] == 0) {
        }
      fence<acquire>();
#pragma unroll 1
      for (unsigned block = 1; block < gridDim.x; ++block) arrived[block] = 0;
    } else {
      arrived[blockIdx.x] = 1;
      while (arrived[blockIdx.x] == 1) {
      }
      fence<acquire>();
    }
  }
  __syncthreads();
}

template <Scope f1, Scope f2, Scope f3, bool early, Scope acquire_tile, Scope acquire_grid>
INLINE void scan(const unsigned *input, unsigned *sums, unsigned *mirrored, Tiles tiles,
                 unsigned *arrived) {
  __shared__ unsigned own[1024], before;
  const unsigned thread = threadIdx.x, index = blockIdx.x * blockDim.x + thread;
  own[thread] = input[index];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const unsigned other = thread >= distance ? own[thread - distance] : 0;
    __syncthreads();
    own[thread] += other;
    __syncthreads();
  }
  if (thread == 0)
    before = look_back<f2, f3, acquire_tile>(tiles, blockIdx.x, own[blockDim.x - 1]);
  __syncthreads();
  sums[index] = before + own[thread];
  grid_barrier<f1, early, acquire_grid>(arrived);
  mirrored[index] = sums[gridDim.x * blockDim.x - 1 - index];
}

#define SCAN(VARIANT, F1, F2, F3, EARLY, ACQUIRE_TILE, ACQUIRE_GRID)                          \
  KERNEL(scan_##VARIANT)(const unsigned *input, unsigned *sums, unsigned *mirrored,           \
                         unsigned *status, unsigned *partial, unsigned *inclusive,            \
                         unsigned *arrived) {                                                 \
    scan<F1, F2, F3, EARLY, ACQUIRE_TILE, ACQUIRE_GRID>(                                      \
        input, sums, mirrored, Tiles{status, partial, inclusive}, arrived);                   \
  }

SCAN(full, DEVICE, DEVICE, DEVICE, false, DEVICE, DEVICE)
SCAN(early_f1, DEVICE, DEVICE, DEVICE, true, DEVICE, DEVICE)
SCAN(no_f1, NONE, DEVICE, DEVICE, false, DEVICE, DEVICE)
SCAN(no_f2, DEVICE, NONE, DEVICE, false, DEVICE, DEVICE)
SCAN(no_f3, DEVICE, DEVICE, NONE, false, DEVICE, DEVICE)
SCAN(no_acquire_tile, DEVICE, DEVICE, DEVICE, false, NONE, DEVICE)
SCAN(no_acquire_grid, DEVICE, DEVICE, DEVICE, false, DEVICE, NONE)
SCAN(f1_f2_f3, DEVICE, DEVICE, DEVICE, true, NONE, NONE)
SCAN(f1_f2, DEVICE, DEVICE, NONE, true, NONE, NONE)
SCAN(f1_f3, DEVICE, NONE, DEVICE, true, NONE, NONE)
SCAN(f2_f3, NONE, DEVICE, DEVICE, true, NONE, NONE)
SCAN(no_fence, NONE, NONE, NONE, true, NONE, NONE)
