// Heat in a rod of 32 cells, several steps by one warp between two buffers.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void heat(float *rod, int steps) {
  __shared__ float cell[2][34];
  const int i = threadIdx.x + 1;
  cell[0][i] = rod[threadIdx.x];
  if (threadIdx.x < 2) cell[threadIdx.x][0] = cell[threadIdx.x][33] = 0;
  __syncwarp();
  for (int s = 0; s < steps; ++s) {
    const float *from = cell[s & 1];
    float *to = cell[~s & 1];
    to[i] = from[i] + 0.25f * (from[i - 1] - 2 * from[i] + from[i + 1]);
  }
  rod[threadIdx.x] = cell[steps & 1][i];
}

int main() {
  float *rod, sum = 0;
  cudaMallocManaged(&rod, 32 * sizeof(float));
  for (int i = 0; i < 32; ++i) rod[i] = i == 16 ? 64 : 0;
  heat<<<1, 32>>>(rod, 4);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) sum += rod[i];
  printf("sum %g\n", sum);
  return sum != 64;
}
