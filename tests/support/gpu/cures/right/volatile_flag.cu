// Flag of a volatile word with a fence on each side.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void relay(int *data, volatile int *flag, int *out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 11;
    __threadfence();
    *flag = 1;
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

int main() {
  int *words;
  cudaMallocManaged(&words, 3 * sizeof(int));
  for (int i = 0; i < 3; ++i) words[i] = 0;
  relay<<<2, 32>>>(words, words + 1, words + 2);
  cudaDeviceSynchronize();
  return printf("%d\n", words[2]), words[2] != 11;
}
