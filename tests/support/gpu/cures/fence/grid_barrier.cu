// Jacobi sweeps with a barrier of the grid made of one counter.
#include <cstdio>
#include <cuda_runtime.h>

__device__ unsigned arrived;

__device__ void grid_barrier(unsigned generation) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < generation * gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void sweep(float *a, float *b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned step = 1; step <= 2; ++step) {
    if (i > 0 && i < n - 1) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    grid_barrier(step);
    float *kept = a;
    a = b;
    b = kept;
  }
}

int main() {
  const int n = 128;
  float *a, *b;
  cudaMallocManaged(&a, n * sizeof(float));
  cudaMallocManaged(&b, n * sizeof(float));
  for (int i = 0; i < n; ++i) a[i] = b[i] = i;
  sweep<<<2, n / 2>>>(a, b, n);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += a[i] != i;
  return printf("%d wrong\n", wrong), wrong != 0;
}
