// Sum over a block: each warp by shuffles, then thread 0 adds the warps' sums.
#pragma once

template <typename T, int WARPS>
__device__ T block_sum(T value) {
  __shared__ T parts[WARPS];
  for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = 0;
  for (int w = 0; w < WARPS; ++w) sum += parts[w];
  return sum;
}
