// Lock of block scope about data of the whole grid.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void longest(const int *lengths, int *longest_length, int *mutex) {
  if (threadIdx.x == 0) {
    while (atomicCAS_block(mutex, 0, 1) != 0) {
    }
    __threadfence();
    if (lengths[blockIdx.x] > *longest_length) *longest_length = lengths[blockIdx.x];
    __threadfence();
    atomicExch(mutex, 0);
  }
}

int main() {
  int *lengths, *longest_length, *mutex;
  cudaMallocManaged(&lengths, 4 * sizeof(int));
  cudaMallocManaged(&longest_length, sizeof(int));
  cudaMalloc(&mutex, sizeof(int));
  cudaMemset(mutex, 0, sizeof(int));
  for (int i = 0; i < 4; ++i) lengths[i] = 10 - i;
  *longest_length = 0;
  longest<<<4, 32>>>(lengths, longest_length, mutex);
  cudaDeviceSynchronize();
  return printf("%d\n", *longest_length), *longest_length != 10;
}
