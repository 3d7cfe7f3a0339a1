// Sums of pairs by shuffle, then of four by shared memory.
#include <cstdio>
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__global__ void sum_of_four(const int *in, int *out) {
  __shared__ int pair[16];
  const int lane = threadIdx.x;
  int value = in[lane];
  value += __shfl_xor_sync(FULL, value, 1);
  if (lane % 2 == 0) pair[lane / 2] = value;
  value = __shfl_sync(FULL, value, lane & ~1);
  out[lane] = value + pair[lane / 2 ^ 1];
}

int main() {
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, 32 * sizeof(int));
  cudaMallocManaged(&out, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) in[i] = i % 4;
  sum_of_four<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) wrong += out[i] != 6;
  return printf("%d wrong\n", wrong), wrong != 0;
}
