// Product of a sparse matrix and a vector, a warp for each row, partial sums in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

struct Csr {
  const int *begin, *column;
  const float *value;
};

__global__ void multiply(Csr m, const float *x, float *y) {
  __shared__ float partial[64];
  const int lane = threadIdx.x & 31, row = threadIdx.x >> 5;
  float sum = 0;
  for (int i = m.begin[row] + lane; i < m.begin[row + 1]; i += 32)
    sum += m.value[i] * x[m.column[i]];
  partial[threadIdx.x] = sum;
  if (lane == 0) {
    for (int i = 1; i < 32; ++i) sum += partial[threadIdx.x + i];
    y[row] = sum;
  }
}

int main() {
  int *begin, *column;
  float *value, *x, *y;
  cudaMallocManaged(&begin, 3 * sizeof(int));
  cudaMallocManaged(&column, 80 * sizeof(int));
  cudaMallocManaged(&value, 80 * sizeof(float));
  cudaMallocManaged(&x, 80 * sizeof(float));
  cudaMallocManaged(&y, 2 * sizeof(float));
  begin[0] = 0, begin[1] = 50, begin[2] = 80;
  for (int i = 0; i < 80; ++i) column[i] = i, value[i] = 2, x[i] = 1;
  multiply<<<1, 64>>>({begin, column, value}, x, y);
  cudaDeviceSynchronize();
  printf("%g %g\n", y[0], y[1]);
  return y[0] != 100 || y[1] != 60;
}
