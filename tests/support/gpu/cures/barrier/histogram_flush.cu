// Byte histogram: counts in shared memory, then one store a bin, one block for each part.
#include <cstdio>
#include <cuda_runtime.h>

struct Bins {
  int count[32];
};

__global__ void count_values(const int *values, Bins *parts) {
  __shared__ Bins mine;
  const int t = threadIdx.x;
  if (t < 32) mine.count[t] = 0;
  __syncthreads();
  atomicAdd(mine.count + (values[blockIdx.x * blockDim.x + t] & 31), 1);
  if (t < 32) parts[blockIdx.x].count[t] = mine.count[t];
}

int main() {
  int *values, sum = 0;
  Bins *parts;
  cudaMallocManaged(&values, 256 * sizeof(int));
  cudaMallocManaged(&parts, 2 * sizeof(Bins));
  for (int i = 0; i < 256; ++i) values[i] = i * i;
  count_values<<<2, 128>>>(values, parts);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) sum += parts[i / 32].count[i % 32];
  printf("%d values\n", sum);
  return sum != 256;
}
