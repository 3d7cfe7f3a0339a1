// Pipeline over chunks: the next chunk is loaded while the current one is summed.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int CHUNK = 64, CHUNKS = 6;

__global__ void sum_chunks(const int *in, int *out) {
  __shared__ int buffer[2][CHUNK];
  const int t = threadIdx.x;
  int sum = 0;
  buffer[0][t] = in[t];
  for (int c = 0; c < CHUNKS; ++c) {
    if (c + 1 < CHUNKS) buffer[(c + 1) % 2][t] = in[(c + 1) * CHUNK + t];
    sum += buffer[c % 2][CHUNK - 1 - t];
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  int *in, *out, total = 0;
  cudaMallocManaged(&in, CHUNKS * CHUNK * sizeof(int));
  cudaMallocManaged(&out, CHUNK * sizeof(int));
  for (int i = 0; i < CHUNKS * CHUNK; ++i) in[i] = 2;
  sum_chunks<<<1, CHUNK>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < CHUNK; ++i) total += out[i];
  printf("total %d\n", total);
  return total != 2 * CHUNKS * CHUNK;
}
