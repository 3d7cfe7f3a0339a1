// Inclusive prefix sums of a block, by doubling distances.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int N = 128;

__global__ void scan(const int *in, int *out) {
  __shared__ int sums[N];
  const int t = threadIdx.x;
  sums[t] = in[t];
  for (int d = 1; d < N; d *= 2) {
    __syncthreads();
    const int left = t >= d ? sums[t - d] : 0;
    sums[t] += left;
  }
  out[t] = sums[t];
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, N * sizeof(int));
  cudaMallocManaged(&out, N * sizeof(int));
  for (int i = 0; i < N; ++i) in[i] = 1;
  scan<<<1, N>>>(in, out);
  cudaDeviceSynchronize();
  printf("last sum %d\n", out[N - 1]);
  return out[N - 1] != N;
}
