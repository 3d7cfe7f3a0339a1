// Encoding by a table that one warp copies to shared memory.
#include <cstdio>
#include <cuda_runtime.h>

__constant__ unsigned char polynomial = 0x1d;

__global__ void encode(const unsigned char *in, unsigned char *out) {
  __shared__ unsigned char table[32];
  if (threadIdx.x < 32) {
    unsigned char c = threadIdx.x;
    for (int bit = 0; bit < 8; ++bit) c = c & 0x80 ? (c << 1) ^ polynomial : c << 1;
    table[threadIdx.x] = c;
  }
  out[threadIdx.x] = table[in[threadIdx.x] % 32];
}

int main() {
  unsigned char *in, *out;
  cudaMallocManaged(&in, 256);
  cudaMallocManaged(&out, 256);
  for (int i = 0; i < 256; ++i) in[i] = i;
  encode<<<1, 256>>>(in, out);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 32; i < 256; ++i) wrong += out[i] != out[i % 32];
  return printf("%d wrong\n", wrong), wrong != 0;
}
