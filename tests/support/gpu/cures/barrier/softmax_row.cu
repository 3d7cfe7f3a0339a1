// Softmax of a row by one block; one scratch array serves for the maximum and for the sum.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

#define THREADS 64

__global__ void softmax(const float *in, float *out) {
  __shared__ float scratch[THREADS];
  const int t = threadIdx.x;
  scratch[t] = in[t];
  for (int s = THREADS / 2; s; s /= 2) {
    __syncthreads();
    if (t < s) scratch[t] = fmaxf(scratch[t], scratch[t + s]);
  }
  __syncthreads();
  const float top = scratch[0];
  const float e = __expf(in[t] - top);
  scratch[t] = e;
  for (int s = THREADS / 2; s; s /= 2) {
    __syncthreads();
    if (t < s) scratch[t] += scratch[t + s];
  }
  __syncthreads();
  out[t] = e / scratch[0];
}

int main() {
  float *in, *out, sum = 0;
  cudaMallocManaged(&in, THREADS * sizeof(float));
  cudaMallocManaged(&out, THREADS * sizeof(float));
  for (int i = 0; i < THREADS; ++i) in[i] = i % 5;
  softmax<<<1, THREADS>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < THREADS; ++i) sum += out[i];
  printf("sum %g\n", sum);
  return std::fabs(sum - 1) > 1e-3f;
}
