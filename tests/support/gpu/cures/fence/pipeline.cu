// Two blocks with a ring buffer between them.
#include <cstdio>
#include <cuda_runtime.h>

#include "ring_buffer.cuh"

typedef RingBuffer<int, 4> Ring;

__global__ void pipeline(Ring *ring, int n, int *sum) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) ring->push(i, (i + 1) * (i + 1));
  } else {
    int total = 0;
    for (int i = 0; i < n; ++i) total += ring->pop(i);
    *sum = total;
  }
}

int main() {
  Ring *ring;
  int *sum;
  cudaMalloc(&ring, sizeof(Ring));
  cudaMallocManaged(&sum, sizeof(int));
  cudaMemset(ring, 0, sizeof(Ring));
  pipeline<<<2, 1>>>(ring, 10, sum);
  cudaDeviceSynchronize();
  return printf("sum %d\n", *sum), *sum != 385;
}
