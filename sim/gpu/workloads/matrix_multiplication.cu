// Matrix product: the warps of a block sum products under locks of block scope, the blocks that
// share a row of the result add their sums under locks of device scope.

enum Switch : unsigned {
  NO_ACQUIRE_FENCE = 1,
  NO_RELEASE_FENCE = 2,
  BLOCK_SCOPE_LOCK = 4,
  BLOCK_SCOPE_FENCE = 8,
};

__device__ void add_in_block(volatile float *sum, int *lock, float value, unsigned switches) {
  // Only some warps lack the fence: ScoRD knows a lock by its fence, so if nobody had it, no
  // lock would be seen at all.
  const bool fenced = !(switches & NO_ACQUIRE_FENCE) || threadIdx.x < warpSize;
  for (bool added = false; !added;) {
    if (atomicCAS_block(lock, 0, 1) == 0) {
      if (fenced) __threadfence_block();
      *sum = *sum + value;
      if (!(switches & NO_RELEASE_FENCE)) __threadfence_block();
      atomicExch_block(lock, 0);
      added = true;
    }
  }
}

__device__ int try_lock(int *lock, unsigned switches) {
  if (switches & BLOCK_SCOPE_LOCK) return atomicCAS_block(lock, 0, 1);
  return atomicCAS(lock, 0, 1);
}

__device__ void add_in_grid(volatile float *result, volatile float *sum, int *lock,
                            unsigned switches) {
  for (bool added = false; !added;) {
    if (try_lock(lock, switches) == 0) {
      if (switches & BLOCK_SCOPE_FENCE) {
        __threadfence_block();
      } else {
        __threadfence();
      }
      *result = *result + *sum;
      __threadfence();
      atomicExch(lock, 0);
      added = true;
    }
  }
}

// `depth`: products that a thread sums before the blocks' sums are added.  The grid must be a
// multiple of the blocks that share a row.  `block_locks` and `sums` hold 32 words for each
// block, `grid_locks` one for each thread of a block; all locks and `c` must be zero.
extern "C" __global__ void multiply(const float *a, const float *b, volatile float *c,
                                    volatile float *sums, int *block_locks, int *grid_locks,
                                    int rows, int inner, int columns, int depth,
                                    unsigned switches) {
  const int lane = threadIdx.x % warpSize;
  const int warp = threadIdx.x / warpSize;
  const int warps = blockDim.x / warpSize;
  const int slices = (inner + warps * depth - 1) / (warps * depth);
  const int groups = (columns + warpSize - 1) / warpSize;
  const int first = (blockIdx.x % slices * warps + warp) * depth;
  volatile float *sum = &sums[blockIdx.x * warpSize + lane];
  int *block_lock = &block_locks[blockIdx.x * warpSize + lane];

  if (warp == 0) *block_lock = 0;
  __syncthreads();
  for (int row = blockIdx.x / slices; row < rows; row += gridDim.x / slices) {
    for (int group = 0; group < groups; group++) {
      const int column = group * warpSize + lane;
      if (warp == 0) *sum = 0.0f;
      __syncthreads();
      for (int k = first; k < first + depth; k++) {
        const bool inside = k < inner && column < columns;
        const float product = inside ? a[row * inner + k] * b[k * columns + column] : 0.0f;
        add_in_block(sum, block_lock, product, switches);
      }
      __syncthreads();
      if (warp == 0 && column < columns) {
        // Locks of a row are those of whole warps, so that a warp waits for all or none.
        const int lock = ((row * groups + group) * warpSize + lane) % blockDim.x;
        add_in_grid(&c[row * columns + column], sum, &grid_locks[lock], switches);
      }
    }
  }
}
