// Some threads leave before the barrier of their warp.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void neighbours(const int *in, int *out, int n) {
  __shared__ int s[32];
  const int i = threadIdx.x;
  if (i >= n) return;
  s[i] = in[i];
  __syncwarp((1u << n) - 1);
  out[i] = s[(i + 1) % n];
}

int main() {
  const int n = 20;
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&out, n * sizeof(int));
  for (int i = 0; i < n; ++i) in[i] = i;
  neighbours<<<1, 32>>>(in, out, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) wrong += out[i] != (i + 1) % n;
  return printf("%d wrong\n", wrong), wrong != 0;
}
