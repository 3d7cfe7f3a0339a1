// Odd-even merge of 32 keys by one warp, in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void sort32(unsigned *keys) {
  __shared__ unsigned s[32];
  const unsigned lane = threadIdx.x;
  s[lane] = keys[lane];
  __syncwarp();
  for (unsigned phase = 0; phase < 32; ++phase) {
    const unsigned i = lane * 2 + (phase & 1);
    if (i + 1 < 32) {
      const unsigned low = min(s[i], s[i + 1]), high = max(s[i], s[i + 1]);
      s[i] = low;
      s[i + 1] = high;
    }
  }
  __syncwarp();
  keys[lane] = s[lane];
}

int main() {
  unsigned *keys, wrong = 0;
  cudaMallocManaged(&keys, 32 * sizeof(unsigned));
  for (unsigned i = 0; i < 32; ++i) keys[i] = i * 11 % 32;
  sort32<<<1, 32>>>(keys);
  cudaDeviceSynchronize();
  for (unsigned i = 0; i < 32; ++i) wrong += keys[i] != i;
  printf("%u wrong\n", wrong);
  return wrong != 0;
}
