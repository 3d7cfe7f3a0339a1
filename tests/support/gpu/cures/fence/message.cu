// Message from block 0 to block 1 through a flag.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void pass(int *message, int *flag, int *out) {
  if (blockIdx.x == 0) {
    message[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(flag, 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = message[threadIdx.x];
  }
}

int main() {
  int *message, *flag, *out, wrong = 0;
  cudaMalloc(&message, 64 * sizeof(int));
  cudaMalloc(&flag, sizeof(int));
  cudaMallocManaged(&out, 64 * sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  pass<<<2, 64>>>(message, flag, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) wrong += out[i] != i + 1;
  return printf("%d wrong\n", wrong), wrong != 0;
}
