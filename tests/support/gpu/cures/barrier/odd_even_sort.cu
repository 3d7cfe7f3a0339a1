// Odd-even transposition sort in global memory, by one block.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void odd_even(int *a, int n) {
  for (int phase = 0; phase < n; ++phase) {
    const int i = 2 * threadIdx.x + phase % 2;
    if (i + 1 < n && a[i] > a[i + 1]) {
      const int larger = a[i];
      a[i] = a[i + 1];
      a[i + 1] = larger;
    }
  }
}

int main() {
  const int n = 96;
  int host[n], *a, wrong = 0;
  for (int i = 0; i < n; ++i) host[i] = n - i;
  cudaMalloc(&a, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  odd_even<<<1, n / 2>>>(a, n);
  cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += host[i] != i + 1;
  cudaFree(a);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
