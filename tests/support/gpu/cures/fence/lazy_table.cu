// Table that the first block to ask for it fills, while others wait for it.
#include <cstdio>
#include <cuda_runtime.h>

enum { ABSENT, BEING_FILLED, THERE };

__device__ int squares[32];
__device__ int table_state;

__device__ const int *table() {
  if (atomicCAS(&table_state, ABSENT, BEING_FILLED) == ABSENT) {
    for (int i = 0; i < 32; ++i) squares[i] = i * i;
    __threadfence();
    atomicExch(&table_state, THERE);
  } else {
    while (atomicAdd(&table_state, 0) != THERE) {
    }
  }
  return squares;
}

__global__ void use(int *out) { out[blockIdx.x] = table()[blockIdx.x + 1]; }

int main() {
  int *out, sum = 0;
  cudaMallocManaged(&out, 4 * sizeof(int));
  use<<<4, 1>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) sum += out[i];
  return printf("sum %d\n", sum), sum != 30;
}
