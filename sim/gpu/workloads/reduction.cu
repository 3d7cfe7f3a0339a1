// Sum of an array: a tree in each block, whose levels wait for each other by flags; the last
// block to finish sums the sums of all blocks.

enum Switch : unsigned { NO_FLAG_FENCE = 1, BLOCK_SCOPE_FENCE = 2 };

__device__ unsigned finished_blocks;

__device__ void publish(volatile unsigned *slot, unsigned sum, unsigned *flag, bool fenced) {
  *slot = sum;
  if (fenced) __threadfence_block();
  atomicExch_block(flag, 1u);
}

__device__ void await(unsigned *flag) {
  while (atomicAdd_block(flag, 0u) != 1u) {
  }
  __threadfence_block();
}

// Sum over the 512 threads of a block, left in slots[0].
__device__ void sum_block(volatile unsigned *slots, unsigned *flags, unsigned sum,
                          unsigned switches) {
  const int t = threadIdx.x;
  slots[t] = sum;
  flags[t] = 0;
  __syncthreads();
  if (t < 256) sum += slots[t + 256];
  if (t >= 128 && t < 256) publish(&slots[t], sum, &flags[t], true);
  if (t < 128) {
    await(&flags[t + 128]);
    sum += slots[t + 128];
  }
  if (t >= 64 && t < 128) publish(&slots[t], sum, &flags[t], true);
  if (t < 64) {
    await(&flags[t + 64]);
    sum += slots[t + 64];
  }
  if (t >= 32 && t < 64) publish(&slots[t], sum, &flags[t], !(switches & NO_FLAG_FENCE));
  if (t < 32) {
    await(&flags[t + 32]);
    // One warp: its lanes run together.
    for (int distance = 32; distance > 0; distance /= 2) {
      sum += slots[t + distance];
      slots[t] = sum;
    }
  }
}

// 512 threads a block; `slots` and `flags` hold a word for each thread of the grid.
extern "C" __global__ void reduce(const unsigned *input, volatile unsigned *sums,
                                  volatile unsigned *slots, unsigned *flags, int count,
                                  unsigned switches) {
  __shared__ bool last;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  volatile unsigned *own_slots = slots + blockIdx.x * blockDim.x;
  unsigned *own_flags = flags + blockIdx.x * blockDim.x;

  unsigned sum = 0;
  for (int i = thread; i < count; i += gridDim.x * blockDim.x) sum += input[i];
  sum_block(own_slots, own_flags, sum, switches);
  if (threadIdx.x == 0) sums[blockIdx.x] = own_slots[0];
  if (switches & BLOCK_SCOPE_FENCE) {
    __threadfence_block();
  } else {
    __threadfence();
  }
  if (threadIdx.x == 0) last = atomicInc(&finished_blocks, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;

  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += sums[i];
  sum_block(own_slots, own_flags, sum, switches);
  if (threadIdx.x == 0) {
    sums[0] = own_slots[0];
    finished_blocks = 0;
  }
}
