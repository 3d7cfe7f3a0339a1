// Sums of tiles of eight lanes, by cooperative groups.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

namespace groups = cooperative_groups;

__global__ void tile_sums(const int *in, int *out) {
  __shared__ int s[64];
  const auto tile = groups::tiled_partition<8>(groups::this_thread_block());
  int *own = s + threadIdx.x / 8 * 8;
  own[tile.thread_rank()] = in[threadIdx.x];
  tile.sync();
  if (tile.thread_rank() == 0) {
    int sum = 0;
    for (int i = 0; i < 8; ++i) sum += own[i];
    out[threadIdx.x / 8] = sum;
  }
}

int main() {
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, 64 * sizeof(int));
  cudaMallocManaged(&out, 8 * sizeof(int));
  for (int i = 0; i < 64; ++i) in[i] = i / 8;
  tile_sums<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) wrong += out[i] != 8 * i;
  return printf("%d wrong\n", wrong), wrong != 0;
}
