// Transpose by tiles of 16 by 16, padded against bank conflicts.
#include <cstdio>
#include <cuda_runtime.h>

#define TILE 16

__global__ void transpose(const int *in, int *out, int width) {
  __shared__ int tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int width = 32, bytes = width * width * sizeof(int);
  int *a, *b, wrong = 0;
  cudaMallocManaged(&a, bytes);
  cudaMallocManaged(&b, bytes);
  for (int i = 0; i < width * width; ++i) a[i] = i;
  transpose<<<dim3(2, 2), dim3(TILE, TILE)>>>(a, b, width);
  cudaDeviceSynchronize();
  for (int i = 0; i < width * width; ++i) wrong += b[i] != a[i % width * width + i / width];
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
