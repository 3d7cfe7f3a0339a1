// Transpose of 8 by 4 words by each warp, through its tile.
#include <cstdio>
#include <cuda_runtime.h>

#define WARPS 2

__global__ void transpose(const float *in, float *out) {
  __shared__ float tiles[WARPS][8][5];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto &tile = tiles[warp];
  tile[lane / 4][lane % 4] = in[threadIdx.x];
  out[threadIdx.x] = tile[lane % 8][lane / 8];
}

int main() {
  const int n = 32 * WARPS;
  float host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  transpose<<<1, n>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += host[i] != i / 32 * 32 + i % 8 * 4 + i % 32 / 8;
  return printf("%d wrong\n", wrong), wrong != 0;
}
