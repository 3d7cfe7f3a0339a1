// Histogram with private bins of each warp, added to the total at the end.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int BINS = 32;

__global__ void histogram(const int *keys, int per_lane, int *total) {
  __shared__ int bins[4][BINS];
  const int lane = threadIdx.x % 32;
  int *own = bins[threadIdx.x / 32];
  own[lane] = 0;
  __syncwarp();
  for (int i = 0; i < per_lane; ++i)
    atomicAdd(&own[keys[threadIdx.x * per_lane + i] % BINS], 1);
  atomicAdd(&total[lane], own[lane]);
}

int main() {
  const int per_lane = 3, n = 128 * per_lane;
  int *keys, *total, count = 0;
  cudaMallocManaged(&keys, n * sizeof(int));
  cudaMallocManaged(&total, BINS * sizeof(int));
  for (int i = 0; i < n; ++i) keys[i] = i * 5;
  for (int i = 0; i < BINS; ++i) total[i] = 0;
  histogram<<<1, 128>>>(keys, per_lane, total);
  cudaDeviceSynchronize();
  for (int i = 0; i < BINS; ++i) count += total[i];
  return printf("%d counted\n", count), count != n;
}
