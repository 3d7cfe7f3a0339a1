// Inclusive prefix sums: each block scans its part, one block scans the totals, all add them.
#include <numeric>

#include "program.cuh"

constexpr int THREADS = 128;

__device__ int scan_block(int value) {
  __shared__ int sums[THREADS];
  sums[threadIdx.x] = value;
  for (int distance = 1; distance < THREADS; distance *= 2) {
    __syncthreads();
    const int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
#ifndef RACY
    __syncthreads();
#endif
    sums[threadIdx.x] += before;
  }
  return sums[threadIdx.x];
}

__global__ void scan(const int *input, int *output, int count, int *totals) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const int sum = scan_block(i < count ? input[i] : 0);
  if (i < count) output[i] = sum;
  if (totals != nullptr && threadIdx.x == THREADS - 1) totals[blockIdx.x] = sum;
}

__global__ void add(int *output, int count, const int *totals) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (blockIdx.x > 0 && i < count) output[i] += totals[blockIdx.x - 1];
}

int main() {
  const std::vector<int> input = random_numbers(700, 10);
  const int count = static_cast<int>(input.size());
  const int blocks = (count + THREADS - 1) / THREADS;
  int *values = to_device(input);
  int *sums = zeros_on_device<int>(input.size());
  int *totals = zeros_on_device<int>(blocks);
  scan<<<blocks, THREADS>>>(values, sums, count, totals);
  scan<<<1, THREADS>>>(totals, totals, blocks, nullptr);
  add<<<blocks, THREADS>>>(sums, count, totals);
  CHECK(cudaGetLastError());
  std::vector<int> expected(input.size());
  std::partial_sum(input.begin(), input.end(), expected.begin());
  return verdict(to_host(sums, input.size()) == expected);
}
