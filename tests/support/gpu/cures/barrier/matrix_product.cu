// Product of square matrices with both tiles in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int T = 8, W = 16;

__global__ void multiply(const float *a, const float *b, float *c) {
  __shared__ float as[T][T], bs[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, column = blockIdx.x * T + x;
  float sum = 0;
  for (int k = 0; k < W; k += T) {
    as[y][x] = a[row * W + k + x];
    bs[y][x] = b[(k + y) * W + column];
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += as[y][i] * bs[i][x];
  }
  c[row * W + column] = sum;
}

int main() {
  float *a, *b, *c;
  cudaMallocManaged(&a, W * W * sizeof(float));
  cudaMallocManaged(&b, W * W * sizeof(float));
  cudaMallocManaged(&c, W * W * sizeof(float));
  for (int i = 0; i < W * W; ++i) a[i] = i / W == i % W, b[i] = i;
  multiply<<<dim3(W / T, W / T), dim3(T, T)>>>(a, b, c);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < W * W; ++i) wrong += c[i] != b[i];
  return printf("%d wrong\n", wrong), wrong != 0;
}
