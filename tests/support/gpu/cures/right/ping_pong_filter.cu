// Smoothing steps between two rows in shared memory, one barrier for each step.
#include <cstdio>
#include <cuda_runtime.h>

template <int N>
struct Rows {
  float row[2][N + 2];
};

template <int N>
__global__ void smooth(float *x, int steps) {
  __shared__ Rows<N> rows;
  const int i = threadIdx.x + 1;
  rows.row[0][i] = x[threadIdx.x];
  if (threadIdx.x < 2) rows.row[threadIdx.x][0] = rows.row[threadIdx.x][N + 1] = 0;
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    const float(&from)[N + 2] = rows.row[s % 2];
    rows.row[1 - s % 2][i] = (from[i - 1] + from[i + 1]) / 2;
    __syncthreads();
  }
  x[threadIdx.x] = rows.row[steps % 2][i];
}

int main() {
  float *x, sum = 0;
  cudaMallocManaged(&x, 64 * sizeof(float));
  for (int i = 0; i < 64; ++i) x[i] = i == 32 ? 16 : 0;
  smooth<64><<<1, 64>>>(x, 3);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) sum += x[i];
  return printf("%g\n", sum), sum != 16;
}
