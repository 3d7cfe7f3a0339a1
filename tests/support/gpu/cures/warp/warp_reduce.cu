// Sum of 32 values in shared memory by one warp; only the first step is synchronised.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void reduce(const int *in, int *out) {
  __shared__ int s[32];
  const int lane = threadIdx.x;
  s[lane] = in[lane];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    if (lane < d) s[lane] += s[lane + d];
  }
  if (lane == 0) *out = s[0];
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 32 * sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  for (int i = 0; i < 32; ++i) in[i] = i;
  reduce<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  return printf("sum %d\n", *out), *out != 496;
}
