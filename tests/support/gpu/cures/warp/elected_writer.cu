// The lane with the largest key writes the result, which all lanes then use.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void share_best(const int *keys, int *best, int *distance) {
  const int key = keys[threadIdx.x];
  int top = key;
  for (int d = 16; d > 0; d /= 2) top = max(top, __shfl_xor_sync(0xffffffff, top, d));
  if (key == top) *best = threadIdx.x;
  distance[threadIdx.x] = abs(*best - static_cast<int>(threadIdx.x));
}

int main() {
  int *keys, *best, *distance;
  cudaMallocManaged(&keys, 32 * sizeof(int));
  cudaMallocManaged(&best, sizeof(int));
  cudaMallocManaged(&distance, 32 * sizeof(int));
  *best = 0;
  for (int i = 0; i < 32; ++i) keys[i] = i * 13 % 32;
  share_best<<<1, 32>>>(keys, best, distance);
  cudaDeviceSynchronize();
  printf("best %d\n", *best);
  return keys[*best] != 31;
}
