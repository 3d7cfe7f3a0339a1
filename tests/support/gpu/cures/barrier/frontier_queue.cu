// Breadth-first levels of a binary tree; the frontier is a queue in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

const int NODES = 127;

__global__ void levels(int *level) {
  __shared__ int frontier[64], next[64], size, next_size;
  const int t = threadIdx.x;
  if (t == 0) frontier[0] = 0, size = 1;
  for (int depth = 0; depth < 7; ++depth) {
    if (t == 0) next_size = 0;
    __syncthreads();
    if (t < size) {
      const int node = frontier[t];
      level[node] = depth;
      for (int child = 2 * node + 1; child <= 2 * node + 2; ++child)
        if (child < NODES) next[atomicAdd(&next_size, 1)] = child;
    }
    if (t < next_size) frontier[t] = next[t];
    if (t == 0) size = next_size;
    __syncthreads();
  }
}

int main() {
  int *level, sum = 0;
  cudaMallocManaged(&level, NODES * sizeof(int));
  for (int i = 0; i < NODES; ++i) level[i] = 0;
  levels<<<1, 64>>>(level);
  cudaDeviceSynchronize();
  for (int i = 0; i < NODES; ++i) sum += level[i];
  printf("sum of levels %d\n", sum);
  return sum != 642;
}
