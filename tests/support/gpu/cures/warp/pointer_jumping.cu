// Roots of a forest of 32 nodes by pointer jumping: each lane follows its parent's parent.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void find_roots(int *parent) {
  __shared__ int up[32];
  const int lane = threadIdx.x;
  up[lane] = parent[lane];
  for (int step = 0; step < 5; ++step) {
    __syncwarp();
    const int above = up[up[lane]];
    up[lane] = above;
  }
  parent[lane] = up[lane];
}

int main() {
  int *parent, wrong = 0;
  cudaMallocManaged(&parent, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) parent[i] = i >= 2 ? i - 2 : i;
  find_roots<<<1, 32>>>(parent);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) wrong += parent[i] != i % 2;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
