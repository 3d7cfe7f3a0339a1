// Sum of an array: a tree in shared memory in each block, then an atomic for each block.
#include <numeric>

#include "program.cuh"

constexpr int THREADS = 128;

__global__ void reduce(const int *input, int count, int *sum) {
  __shared__ int tree[THREADS];
  int own = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
    own += input[i];
  }
  tree[threadIdx.x] = own;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
#ifndef RACY
    __syncthreads();
#endif
  }
  if (threadIdx.x == 0) atomicAdd(sum, tree[0]);
}

int main() {
  const std::vector<int> input = random_numbers(3000, 100);
  int *values = to_device(input);
  int *sum = zeros_on_device<int>(1);
  reduce<<<4, THREADS>>>(values, static_cast<int>(input.size()), sum);
  CHECK(cudaGetLastError());
  return verdict(to_host(sum, 1)[0] == std::accumulate(input.begin(), input.end(), 0));
}
