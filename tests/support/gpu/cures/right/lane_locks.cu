// Lock that every lane takes by itself, as threads can since Volta.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void count(int *lock, int *counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *counter += 1;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  int *lock, *counter;
  cudaMalloc(&lock, sizeof(int));
  cudaMemset(lock, 0, sizeof(int));
  cudaMallocManaged(&counter, sizeof(int));
  *counter = 0;
  count<<<2, 40>>>(lock, counter);
  cudaDeviceSynchronize();
  return printf("%d\n", *counter), *counter != 80;
}
