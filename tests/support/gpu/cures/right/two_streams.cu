// Two halves in two streams, joined by an event.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *x, int value) { x[threadIdx.x] = value; }
__global__ void add(const int *x, const int *y, int *sum) {
  sum[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}

int main() {
  int *x, *y, *sum, host[64], wrong = 0;
  cudaStream_t one, other;
  cudaEvent_t filled;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMalloc(&sum, sizeof host);
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreate(&filled);
  fill<<<1, 64, 0, one>>>(x, 2);
  cudaEventRecord(filled, one);
  fill<<<1, 64, 0, other>>>(y, 3);
  cudaStreamWaitEvent(other, filled, 0);
  add<<<1, 64, 0, other>>>(x, y, sum);
  cudaMemcpyAsync(host, sum, sizeof host, cudaMemcpyDeviceToHost, other);
  cudaStreamSynchronize(other);
  for (int value : host) wrong += value != 5;
  return printf("%d wrong\n", wrong), wrong != 0;
}
