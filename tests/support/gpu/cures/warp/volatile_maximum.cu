// Maximum of a block: barriers down to a warp, volatile words for the last five steps.
#include <cstdio>
#include <cuda_runtime.h>

__device__ void finish(volatile int *s, int t) {
  for (int d = 16; d > 0; d >>= 1) {
    const int other = s[t + d];
    __syncwarp();
    if (other > s[t]) s[t] = other;
  }
}

__global__ void maximum(const int *in, int *out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 64; d >= 32; d >>= 1) {
    if (t < d && s[t + d] > s[t]) s[t] = s[t + d];
    __syncthreads();
  }
  if (t < 32) finish(s, t);
  if (t == 0) *out = s[0];
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 128 * sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  for (int i = 0; i < 128; ++i) in[i] = i * 77 % 128;
  maximum<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  return printf("maximum %d\n", *out), *out != 127;
}
