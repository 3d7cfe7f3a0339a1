// Rotation of complex numbers by one lane, through an exchange in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

#include "lane_exchange.cuh"

__global__ void rotate(float2 *z) {
  __shared__ float2 room[32];
  LaneExchange<float2> exchange(room);
  z[threadIdx.x] = exchange.from(z[threadIdx.x], (threadIdx.x + 1) % 32);
}

int main() {
  float2 *z;
  cudaMallocManaged(&z, 32 * sizeof(float2));
  for (int i = 0; i < 32; ++i) z[i] = make_float2(i, -i);
  rotate<<<1, 32>>>(z);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 32; ++i) wrong += z[i].x != (i + 1) % 32 || z[i].y != -z[i].x;
  return printf("%d wrong\n", wrong), wrong != 0;
}
