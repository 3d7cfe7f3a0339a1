// Separable box filter of an 8 by 8 image: rows first, then columns.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int SIZE = 8;

__device__ int clamped(int i) { return min(max(i, 0), SIZE - 1); }

__global__ void blur(const float *image, float *out) {
  __shared__ float rows[SIZE][SIZE];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int d = -1; d <= 1; ++d) sum += image[y * SIZE + clamped(x + d)];
  rows[y][x] = sum / 3;
  sum = 0;
  for (int d = -1; d <= 1; ++d) sum += rows[clamped(y + d)][x];
  out[y * SIZE + x] = sum / 3;
}

int main() {
  float *image, *out;
  cudaMallocManaged(&image, SIZE * SIZE * sizeof(float));
  cudaMallocManaged(&out, SIZE * SIZE * sizeof(float));
  for (int i = 0; i < SIZE * SIZE; ++i) image[i] = 3;
  blur<<<1, dim3(SIZE, SIZE)>>>(image, out);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < SIZE * SIZE; ++i) wrong += out[i] != 3;
  return printf("%d wrong\n", wrong), wrong != 0;
}
