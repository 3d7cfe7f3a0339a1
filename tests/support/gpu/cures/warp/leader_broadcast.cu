// The first lane of each warp reads a parameter for all of them.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(const int *factors, int *x) {
  __shared__ int factor[2];
  const unsigned warp = threadIdx.x / warpSize;
  if (threadIdx.x % warpSize == 0) factor[warp] = factors[warp];
  x[threadIdx.x] *= factor[warp];
}

int main() {
  int *factors, *x, sum = 0;
  cudaMallocManaged(&factors, 2 * sizeof(int));
  cudaMallocManaged(&x, 64 * sizeof(int));
  factors[0] = 2, factors[1] = 3;
  for (int i = 0; i < 64; ++i) x[i] = 1;
  scale<<<1, 64>>>(factors, x);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) sum += x[i];
  return printf("sum %d\n", sum), sum != 160;
}
