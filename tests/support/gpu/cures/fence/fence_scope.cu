// Boundary values handed from each block to the next one.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void chain(int *edges, int *flags, int *out) {
  const int b = blockIdx.x;
  int value = 1;
  if (b > 0) {
    while (atomicAdd(&flags[b - 1], 0) == 0) {
    }
    __threadfence();
    value += edges[b - 1];
  }
  edges[b] = value;
  __threadfence_block();
  atomicExch(&flags[b], 1);
  out[b] = value;
}

int main() {
  const int blocks = 5;
  int *edges, *flags, out[blocks], *device_out;
  cudaMalloc(&edges, sizeof out);
  cudaMalloc(&flags, sizeof out);
  cudaMalloc(&device_out, sizeof out);
  cudaMemset(flags, 0, sizeof out);
  chain<<<blocks, 1>>>(edges, flags, device_out);
  cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
  printf("%d\n", out[blocks - 1]);
  return out[blocks - 1] != blocks;
}
