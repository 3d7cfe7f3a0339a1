// Prefix sums of each warp in its own part of shared memory.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scan_warps(const int *in, int *out) {
  __shared__ int sums[4][32];
  const int lane = threadIdx.x & 31;
  int *mine = sums[threadIdx.x >> 5];
  mine[lane] = in[threadIdx.x];
  for (int d = 1; d < 32; d <<= 1) {
    __syncwarp();
    int value = mine[lane];
    if (lane >= d) value += mine[lane - d];
    mine[lane] = value;
  }
  out[threadIdx.x] = mine[lane];
}

int main() {
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, 128 * sizeof(int));
  cudaMallocManaged(&out, 128 * sizeof(int));
  for (int i = 0; i < 128; ++i) in[i] = 1;
  scan_warps<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 128; ++i) wrong += out[i] != i % 32 + 1;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
