// Stream compaction: a counter in shared memory gives each kept element its place.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void keep_positive(const int *in, int *out, int *size) {
  __shared__ int kept;
  if (threadIdx.x == 0) kept = 0;
  __syncthreads();
  const int value = in[threadIdx.x];
  if (value > 0) out[atomicAdd(&kept, 1)] = value;
  if (threadIdx.x == blockDim.x - 1) *size = kept;
}

int main() {
  const int n = 160;
  int in[n], size, *device_in, *device_out, *device_size;
  for (int i = 0; i < n; ++i) in[i] = i % 4 - 1;
  cudaMalloc(&device_in, sizeof in);
  cudaMalloc(&device_out, sizeof in);
  cudaMalloc(&device_size, sizeof(int));
  cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
  keep_positive<<<1, n>>>(device_in, device_out, device_size);
  cudaMemcpy(&size, device_size, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d kept\n", size);
  return size != n / 2;
}
