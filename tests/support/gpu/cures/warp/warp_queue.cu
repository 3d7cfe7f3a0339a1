// Output queue: one lane of each warp reserves room for all its lanes.
#include <cstdio>
#include <cuda_runtime.h>

__device__ int tail;

__global__ void push_all(int *queue) {
  __shared__ int base[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) base[warp] = atomicAdd(&tail, 32);
  queue[base[warp] + lane] = threadIdx.x;
}

int main() {
  int *queue, sum = 0;
  cudaMallocManaged(&queue, 64 * sizeof(int));
  push_all<<<1, 64>>>(queue);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) sum += queue[i];
  printf("sum %d\n", sum);
  return sum != 64 * 63 / 2;
}
