// Bitonic sort of 128 keys by one block.
#include <cstdio>
#include <cuda_runtime.h>

__device__ void compare_and_swap(int &a, int &b, bool up) {
  if ((a > b) == up) {
    const int kept = a;
    a = b;
    b = kept;
  }
}

__global__ void sort(int *keys) {
  __shared__ int s[128];
  const unsigned t = threadIdx.x;
  s[t] = keys[t];
  __syncthreads();
  for (unsigned k = 2; k <= 128; k *= 2) {
    for (unsigned j = k / 2; j > 0; j /= 2) {
      const unsigned other = t ^ j;
      if (other > t) compare_and_swap(s[t], s[other], (t & k) == 0);
    }
  }
  __syncthreads();
  keys[t] = s[t];
}

int main() {
  int *keys, wrong = 0;
  cudaMallocManaged(&keys, 128 * sizeof(int));
  for (int i = 0; i < 128; ++i) keys[i] = i * 37 % 128;
  sort<<<1, 128>>>(keys);
  cudaDeviceSynchronize();
  for (int i = 0; i < 128; ++i) wrong += keys[i] != i;
  return printf("%d wrong\n", wrong), wrong != 0;
}
