// Rule 110 cellular automaton: one launch for each step.  A thread waits for its two neighbours
// by flags: at block scope, or at device scope where the neighbour is in another block.

enum Switch : unsigned { BLOCK_SCOPE_FENCE = 1, BLOCK_SCOPE_WAIT = 2 };

__device__ void await_in_block(int *flag, int step) {
  while (atomicAdd_block(flag, 0) != step) {
  }
  __threadfence_block();
}

__device__ void await_in_grid(int *flag, int step, bool block_scope) {
  if (block_scope) {
    while (atomicAdd_block(flag, 0) != step) {
    }
  } else {
    while (atomicAdd(flag, 0) != step) {
    }
  }
  __threadfence();
}

__device__ void publish(int *flag, int step, bool border, unsigned switches) {
  if (border) {
    if (switches & BLOCK_SCOPE_FENCE) {
      __threadfence_block();
    } else {
      __threadfence();
    }
    atomicExch(flag, step);
  } else {
    __threadfence_block();
    atomicExch_block(flag, step);
  }
}

// All blocks must be resident at once: the threads wait in a ring.  `flags` holds a word for
// each thread of the grid; `step` differs from launch to launch and is never 0.
extern "C" __global__ void advance(int *cells, volatile int *copy, int *flags, int count,
                                   int step, unsigned switches) {
  const int t = threadIdx.x;
  const int threads = gridDim.x * blockDim.x;
  const int g = blockIdx.x * blockDim.x + t;
  const int last = blockDim.x - 1;
  int *left_flag = &flags[(threads + g - 1) % threads];
  int *right_flag = &flags[(g + 1) % threads];

  for (int i = g; i < count; i += threads) copy[i] = cells[i];
  publish(&flags[g], step, t == 0 || t == last, switches);

  // The flag of a border thread has device scope for its neighbours in the block as well.
  if (t <= 1) {
    await_in_grid(left_flag, step, false);
  } else {
    await_in_block(left_flag, step);
  }
  for (int i = g; i < count; i += threads) cells[i] = i > 0 ? copy[i - 1] : 0;

  if (t >= last - 1) {
    await_in_grid(right_flag, step, switches & BLOCK_SCOPE_WAIT);
  } else {
    await_in_block(right_flag, step);
  }
  for (int i = g; i < count; i += threads) {
    const int right = i + 1 < count ? copy[i + 1] : 0;
    const int pattern = cells[i] << 2 | copy[i] << 1 | right;
    cells[i] = 110 >> pattern & 1;
  }
}
