// Producer warp and consumer warp with two barriers by number.
#include <cstdio>
#include <cuda_runtime.h>

__device__ void arrive(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }
__device__ void wait(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }

__global__ void stages(const int *in, int *out, int rounds) {
  __shared__ int slot[32];
  const int lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < 32) {
      if (r > 0) wait(2);
      slot[lane] = in[r * 32 + lane];
      arrive(1);
    } else {
      wait(1);
      out[r * 32 + lane] = slot[31 - lane];
      if (r + 1 < rounds) arrive(2);
    }
  }
}

int main() {
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, 96 * sizeof(int));
  cudaMallocManaged(&out, 96 * sizeof(int));
  for (int i = 0; i < 96; ++i) in[i] = i;
  stages<<<1, 64>>>(in, out, 3);
  cudaDeviceSynchronize();
  for (int i = 0; i < 96; ++i) wrong += out[i] != i / 32 * 32 + 31 - i % 32;
  return printf("%d wrong\n", wrong), wrong != 0;
}
