// Histogram by global atomics, and the largest bin by a second kernel.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(const unsigned *keys, unsigned *bins) {
  atomicAdd(&bins[keys[blockIdx.x * blockDim.x + threadIdx.x] % 16], 1u);
}

__global__ void largest(const unsigned *bins, unsigned *top) {
  if (threadIdx.x < 16) atomicMax(top, bins[threadIdx.x]);
}

int main() {
  unsigned *keys, *bins, *top;
  cudaMallocManaged(&keys, 128 * sizeof(unsigned));
  cudaMallocManaged(&bins, 16 * sizeof(unsigned));
  cudaMallocManaged(&top, sizeof(unsigned));
  for (int i = 0; i < 128; ++i) keys[i] = i;
  for (int i = 0; i < 16; ++i) bins[i] = 0;
  *top = 0;
  fill<<<2, 64>>>(keys, bins);
  largest<<<1, 32>>>(bins, top);
  cudaDeviceSynchronize();
  return printf("%u\n", *top), *top != 8;
}
