// Subtract the mean: thread 0 works it out, all threads use it.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void centre(float *x, int n) {
  __shared__ float mean;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    mean = sum / n;
  }
  const float own = mean;
  __syncthreads();
  x[threadIdx.x] -= own;
}

int main() {
  const int n = 96;
  float *x, largest = 0;
  cudaMallocManaged(&x, n * sizeof(float));
  for (int i = 0; i < n; ++i) x[i] = i % 2;
  centre<<<1, n>>>(x, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  printf("largest %g\n", largest);
  return largest != 0.5f;
}
