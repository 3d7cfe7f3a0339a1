// Ticket lock about a running product.
#include <cstdio>
#include <cuda_runtime.h>

__device__ unsigned next_ticket, now_serving;

__global__ void multiply(unsigned *product, unsigned factor) {
  if (threadIdx.x == 0) {
    const unsigned mine = atomicAdd(&next_ticket, 1);
    while (atomicOr(&now_serving, 0) != mine) {
    }
    __threadfence();
    *product *= factor;
    atomicAdd(&now_serving, 1);
  }
}

int main() {
  unsigned *product;
  cudaMallocManaged(&product, sizeof(unsigned));
  *product = 1;
  multiply<<<5, 32>>>(product, 3);
  cudaDeviceSynchronize();
  printf("%u\n", *product);
  return *product != 243;
}
