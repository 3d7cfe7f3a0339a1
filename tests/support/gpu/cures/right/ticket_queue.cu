// Queue of jobs that blocks draw from, by tickets shared with the block.
#include <cstdio>
#include <cuda_runtime.h>

__device__ int next_job;

__global__ void work(int jobs, int *done) {
  __shared__ int job;
  while (true) {
    if (threadIdx.x == 0) job = atomicAdd(&next_job, 1);
    __syncthreads();
    if (job >= jobs) return;
    done[job * blockDim.x + threadIdx.x] = job;
    __syncthreads();
  }
}

int main() {
  int *done, wrong = 0;
  cudaMallocManaged(&done, 7 * 64 * sizeof(int));
  work<<<3, 64>>>(7, done);
  cudaDeviceSynchronize();
  for (int i = 0; i < 7 * 64; ++i) wrong += done[i] != i / 64;
  return printf("%d wrong\n", wrong), wrong != 0;
}
