// y = a x + y, each element by one thread.
#include <cstdio>
#include <cuda_runtime.h>

template <typename T>
__global__ void axpy(int n, T a, const T *__restrict__ x, T *__restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 200;
  double *x, *y;
  cudaMallocManaged(&x, n * sizeof(double));
  cudaMallocManaged(&y, n * sizeof(double));
  for (int i = 0; i < n; ++i) x[i] = i, y[i] = 1;
  axpy<<<2, 64>>>(n, 2.0, x, y);
  axpy<<<2, 64>>>(n, -1.0, x, y);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != i + 1;
  return printf("%d wrong\n", wrong), wrong != 0;
}
