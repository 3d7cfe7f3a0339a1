// Rank sort: the place of a key is the number of smaller ones; ties by index.
#include <cstdio>
#include <cuda_runtime.h>

template <int N>
__global__ void rank_sort(const unsigned short *in, unsigned short *out) {
  __shared__ unsigned short keys[N];
  keys[threadIdx.x] = in[threadIdx.x];
  const unsigned short own = in[threadIdx.x];
  unsigned rank = 0;
#pragma unroll 4
  for (unsigned i = 0; i < N; ++i) rank += keys[i] < own || (keys[i] == own && i < threadIdx.x);
  out[rank] = own;
}

int main() {
  unsigned short *in, *out;
  cudaMallocManaged(&in, 64 * sizeof *in);
  cudaMallocManaged(&out, 64 * sizeof *out);
  for (int i = 0; i < 64; ++i) in[i] = i * 29 % 64;
  rank_sort<64><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += out[i] != i;
  return printf("%d wrong\n", wrong), wrong != 0;
}
