// Sum in one launch: each block adds its part in shared memory, in lockstep once a single warp is
// left, and the last block to take a ticket behind a fence adds the parts.
//
// Ref: BARRACUDA (PLDI'17) Table 1 and Section 3.1, `threadFenceReduction` of NVIDIA's samples.
#include "../../cuda/programs/program.cuh"

constexpr int THREADS = 128, BLOCKS = 8, VALUES = 2048;

__device__ unsigned tickets;

__device__ void reduce(volatile int *sums, int sum) {
  const int thread = threadIdx.x;
  sums[thread] = sum;
  __syncthreads();
  for (int step = THREADS / 2; step > 32; step /= 2) {
    if (thread < step) sums[thread] = sum = sum + sums[thread + step];
    __syncthreads();
  }
  if (thread < 32) {
#pragma unroll
    for (int step = 32; step > 0; step /= 2) sums[thread] = sum = sum + sums[thread + step];
  }
}

__global__ void reduce_all(const int *input, volatile int *parts, int *total) {
  __shared__ int sums[THREADS];
  __shared__ bool is_last;
  int sum = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < VALUES; i += THREADS * gridDim.x) sum += input[i];
  reduce(sums, sum);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sums[0];
    __threadfence();
    is_last = atomicInc(&tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += THREADS) sum += parts[i];
  reduce(sums, sum);
  if (threadIdx.x == 0) *total = sums[0], tickets = 0;
}

int main() {
  const std::vector<int> input = random_numbers(VALUES, 100);
  int expected = 0;
  for (int value : input) expected += value;
  const int *values = to_device(input);
  int *parts = zeros_on_device<int>(BLOCKS), *total = zeros_on_device<int>(1);
  reduce_all<<<BLOCKS, THREADS>>>(values, parts, total);
  return verdict(to_host(total, 1)[0] == expected);
}
