// Number of even values in a grid; each warp adds its count.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void count_even(const int *in, int *count) {
  const bool even = in[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0;
  const unsigned votes = __ballot_sync(0xffffffff, even);
  if (threadIdx.x % 32 == 0) atomicAdd_block(count, __popc(votes));
}

int main() {
  int *in, *count;
  cudaMallocManaged(&in, 128 * sizeof(int));
  cudaMallocManaged(&count, sizeof(int));
  for (int i = 0; i < 128; ++i) in[i] = i;
  *count = 0;
  count_even<<<2, 64>>>(in, count);
  cudaDeviceSynchronize();
  return printf("%d even\n", *count), *count != 64;
}
