// Histogram with bins of each block in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

const int kBins = 64;

__global__ void histogram(const unsigned char *bytes, int n, unsigned *bins) {
  __shared__ unsigned local[kBins];
  if (threadIdx.x < kBins) local[threadIdx.x] = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[bytes[i] % kBins], 1u);
  __syncthreads();
  if (threadIdx.x < kBins) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
  const int n = 1024;
  unsigned char *bytes;
  unsigned *bins, count = 0;
  cudaMallocManaged(&bytes, n);
  cudaMallocManaged(&bins, kBins * sizeof(unsigned));
  for (int i = 0; i < n; ++i) bytes[i] = i * 7;
  for (int i = 0; i < kBins; ++i) bins[i] = 0;
  histogram<<<2, 128>>>(bytes, n, bins);
  cudaDeviceSynchronize();
  for (int i = 0; i < kBins; ++i) count += bins[i];
  return printf("%u counted\n", count), count != n;
}
