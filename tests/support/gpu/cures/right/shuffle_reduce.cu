// Sum by shuffles alone, one atomic for each warp.
#include <cstdio>
#include <cuda_runtime.h>

__inline__ __device__ int warp_sum(int v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  return v;
}

__global__ void sum(const int *in, int n, int *out) {
  int own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    own += in[i];
  own = warp_sum(own);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, own);
}

int main() {
  const int n = 300;
  int *in, *out;
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  for (int i = 0; i < n; ++i) in[i] = 1;
  *out = 0;
  sum<<<2, 96>>>(in, n, out);
  cudaDeviceSynchronize();
  return printf("%d\n", *out), *out != n;
}
