// Relaxation of distances along a chain until a vote says that no lane has changed one.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void relax(int *distance) {
  __shared__ int d[33];
  const int lane = threadIdx.x;
  if (lane == 0) d[0] = 0;
  d[lane + 1] = 1000;
  __syncwarp();
  bool changed = true;
  while (__any_sync(0xffffffff, changed)) {
    const int shorter = d[lane] + 1;
    __syncwarp();
    changed = shorter < d[lane + 1];
    if (changed) d[lane + 1] = shorter;
  }
  distance[lane] = d[lane + 1];
}

int main() {
  int *distance, wrong = 0;
  cudaMallocManaged(&distance, 32 * sizeof(int));
  relax<<<1, 32>>>(distance);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) wrong += distance[i] != i + 1;
  return printf("%d wrong\n", wrong), wrong != 0;
}
