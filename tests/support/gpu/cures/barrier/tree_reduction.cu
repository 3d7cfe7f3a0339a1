// Sum of each block by a tree in shared memory; blocks add to one total.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void reduce(const float *in, float *total, int n) {
  extern __shared__ float part[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
  }
  if (t == 0) atomicAdd(total, part[0]);
}

int main() {
  const int n = 500, threads = 128, blocks = (n + threads - 1) / threads;
  float host[n], sum, *in, *total;
  for (float &x : host) x = 1.0f;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&total, sizeof(float));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(float));
  reduce<<<blocks, threads, threads * sizeof(float)>>>(in, total, n);
  cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost);
  printf("sum %g\n", sum);
  return sum != n;
}
