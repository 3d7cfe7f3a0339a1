// Each warp stages one row after the other in the same buffer and reverses it.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void reverse_rows(const int *in, int *out, int rows) {
  __shared__ int row[32];
  const int lane = threadIdx.x;
  for (int r = 0; r < rows; ++r) {
    row[lane] = in[r * 32 + lane];
    __syncwarp();
    out[r * 32 + lane] = row[31 - lane];
  }
}

int main() {
  const int rows = 4;
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, rows * 32 * sizeof(int));
  cudaMallocManaged(&out, rows * 32 * sizeof(int));
  for (int i = 0; i < rows * 32; ++i) in[i] = i;
  reverse_rows<<<1, 32>>>(in, out, rows);
  cudaDeviceSynchronize();
  for (int i = 0; i < rows * 32; ++i) wrong += out[i] != i / 32 * 32 + 31 - i % 32;
  return printf("%d wrong\n", wrong), wrong != 0;
}
