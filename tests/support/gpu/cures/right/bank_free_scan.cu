// Work-efficient scan: up-sweep and down-sweep over a tree in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

#define N 128

__global__ void exclusive_scan(int *data) {
  __shared__ int s[N];
  const int t = threadIdx.x;
  s[2 * t] = data[2 * t];
  s[2 * t + 1] = data[2 * t + 1];
  int offset = 1;
  for (int d = N / 2; d > 0; d >>= 1, offset *= 2) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
  }
  if (t == 0) s[N - 1] = 0;
  for (int d = 1; d < N; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, left = s[a];
      s[a] = s[b];
      s[b] += left;
    }
  }
  __syncthreads();
  data[2 * t] = s[2 * t];
  data[2 * t + 1] = s[2 * t + 1];
}

int main() {
  int *data, wrong = 0;
  cudaMallocManaged(&data, N * sizeof(int));
  for (int i = 0; i < N; ++i) data[i] = 1;
  exclusive_scan<<<1, N / 2>>>(data);
  cudaDeviceSynchronize();
  for (int i = 0; i < N; ++i) wrong += data[i] != i;
  return printf("%d wrong\n", wrong), wrong != 0;
}
