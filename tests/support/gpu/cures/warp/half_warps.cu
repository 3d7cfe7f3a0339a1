// Two teams of 16 lanes, each with its own mask, swap their values around.
#include <cstdio>
#include <cuda_runtime.h>

__device__ unsigned team_mask() { return threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u; }

__global__ void swap_around(short *v) {
  __shared__ short s[32];
  const int lane = threadIdx.x % 32, team = lane / 16, member = lane % 16;
  s[lane] = v[lane];
  v[lane] = s[team * 16 + 15 - member];
  __syncwarp(team_mask());
}

int main() {
  short *v;
  cudaMallocManaged(&v, 32 * sizeof(short));
  for (int i = 0; i < 32; ++i) v[i] = i;
  swap_around<<<1, 32>>>(v);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 32; ++i) wrong += v[i] != i / 16 * 16 + 15 - i % 16;
  return printf("%d wrong\n", wrong), wrong != 0;
}
