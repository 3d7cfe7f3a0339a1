// Compaction of each warp's odd values: places by ballot, values through shared memory.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void compact(const int *in, int *out, int *kept) {
  __shared__ int stage[32];
  const int lane = threadIdx.x, value = in[lane];
  const unsigned votes = __ballot_sync(0xffffffff, value & 1);
  if (value & 1) stage[__popc(votes & ((1u << lane) - 1))] = value;
  const int count = __popc(votes);
  if (lane < count) out[lane] = stage[lane];
  if (lane == 0) *kept = count;
}

int main() {
  int *in, *out, *kept;
  cudaMallocManaged(&in, 32 * sizeof(int));
  cudaMallocManaged(&out, 32 * sizeof(int));
  cudaMallocManaged(&kept, sizeof(int));
  for (int i = 0; i < 32; ++i) in[i] = i;
  compact<<<1, 32>>>(in, out, kept);
  cudaDeviceSynchronize();
  int wrong = *kept != 16;
  for (int i = 0; i < 16; ++i) wrong += out[i] != 2 * i + 1;
  return printf("%d wrong\n", wrong), wrong != 0;
}
