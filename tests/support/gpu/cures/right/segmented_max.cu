// Maximum of each segment by a warp, with matching lanes and a vote.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void segment_max(const int *segment, const int *value, int *maximum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int own = segment[i];
  const unsigned peers = __match_any_sync(0xffffffff, own);
  int top = value[i];
  for (int lane = 0; lane < 32; ++lane) {
    const int other = __shfl_sync(0xffffffff, value[i], lane);
    if (peers >> lane & 1) top = max(top, other);
  }
  if (__ffs(peers) - 1 == threadIdx.x % 32) atomicMax(&maximum[own], top);
}

int main() {
  int *segment, *value, *maximum, wrong = 0;
  cudaMallocManaged(&segment, 64 * sizeof(int));
  cudaMallocManaged(&value, 64 * sizeof(int));
  cudaMallocManaged(&maximum, 4 * sizeof(int));
  for (int i = 0; i < 64; ++i) segment[i] = i / 16, value[i] = i;
  for (int i = 0; i < 4; ++i) maximum[i] = 0;
  segment_max<<<2, 32>>>(segment, value, maximum);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) wrong += maximum[i] != 16 * i + 15;
  return printf("%d wrong\n", wrong), wrong != 0;
}
