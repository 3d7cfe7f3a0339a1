// One pass of a radix sort by two bits: counts, offsets and a stable scatter in a block.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int N = 64;

__global__ void radix_pass(const unsigned *in, unsigned *out) {
  __shared__ unsigned digits[N], offsets[4];
  const int t = threadIdx.x;
  const unsigned digit = in[t] & 3;
  digits[t] = digit;
  __syncthreads();
  if (t < 4) {
    unsigned below = 0;
    for (int i = 0; i < N; ++i) below += digits[i] < t;
    offsets[t] = below;
  }
  __syncthreads();
  unsigned place = offsets[digit];
  for (int i = 0; i < t; ++i) place += digits[i] == digit;
  out[place] = in[t];
}

int main() {
  unsigned *in, *out, wrong = 0;
  cudaMallocManaged(&in, N * sizeof(unsigned));
  cudaMallocManaged(&out, N * sizeof(unsigned));
  for (int i = 0; i < N; ++i) in[i] = 63 - i;
  radix_pass<<<1, N>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 1; i < N; ++i) wrong += (out[i - 1] & 3) > (out[i] & 3);
  return printf("%u wrong\n", wrong), wrong != 0;
}
