// Polynomial with coefficients in constant memory, by a function pointer for the basis.
#include <cstdio>
#include <cuda_runtime.h>

__constant__ float coefficients[4] = {1, 2, 3, 4};

typedef float (*Basis)(float, int);

__device__ float power(float x, int k) {
  float p = 1;
  while (k--) p *= x;
  return p;
}

__device__ Basis basis = power;

__global__ void evaluate(const float *x, float *y) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += coefficients[k] * basis(x[threadIdx.x], k);
  y[threadIdx.x] = sum;
}

int main() {
  float *x, *y;
  cudaMallocManaged(&x, 32 * sizeof(float));
  cudaMallocManaged(&y, 32 * sizeof(float));
  for (int i = 0; i < 32; ++i) x[i] = i;
  evaluate<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  return printf("%g\n", y[2]), y[2] != 49;
}
