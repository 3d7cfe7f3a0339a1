// A consumer block polls a volatile flag for the producer's result.
#include <cstdio>
#include <cuda_runtime.h>

__device__ int result;
__device__ volatile int ready;

__global__ void produce_and_consume(int *out) {
  if (blockIdx.x == 0) {
    result = 42;
    __threadfence();
    ready = 1;
  } else {
    while (!ready) {
    }
    *out = result;
  }
}

int main() {
  int *out;
  cudaMallocManaged(&out, sizeof(int));
  *out = 0;
  produce_and_consume<<<2, 1>>>(out);
  cudaDeviceSynchronize();
  printf("%d\n", *out);
  return *out != 42;
}
