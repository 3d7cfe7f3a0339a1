// Three-point stencil; each block stages its part and a halo on both sides.
#include <cstdio>
#include <cuda_runtime.h>

#define BLOCK 64
#define RADIUS 1

__global__ void stencil(const int *in, int *out, int n) {
  __shared__ int s[BLOCK + 2 * RADIUS];
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const int l = threadIdx.x + RADIUS;
  s[l] = in[g];
  if (threadIdx.x < RADIUS) {
    s[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;
    s[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
  }
  int sum = 0;
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += s[l + k];
  out[g] = sum;
}

int main() {
  const int n = 2 * BLOCK;
  int *in, *out;
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&out, n * sizeof(int));
  for (int i = 0; i < n; ++i) in[i] = i;
  stencil<<<n / BLOCK, BLOCK>>>(in, out, n);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 1; i < n - 1; ++i) wrong += out[i] != 3 * i;
  return printf("%d wrong\n", wrong), wrong != 0;
}
