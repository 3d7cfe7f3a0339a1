// Lanes send words to each other's mailboxes by atomics, then each empties its own.
#include <cstdio>
#include <cuda_runtime.h>

struct Mailbox {
  int count, letters[4];
};

__global__ void deliver(const int *to, int *received) {
  __shared__ Mailbox box[32];
  Mailbox &own = box[threadIdx.x];
  own.count = 0;
  __syncwarp();
  Mailbox &other = box[to[threadIdx.x]];
  other.letters[atomicAdd(&other.count, 1)] = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < own.count; ++i) sum += own.letters[i];
  received[threadIdx.x] = sum;
}

int main() {
  int *to, *received, sum = 0;
  cudaMallocManaged(&to, 32 * sizeof(int));
  cudaMallocManaged(&received, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) to[i] = i / 4 * 4;
  deliver<<<1, 32>>>(to, received);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) sum += received[i];
  return printf("sum %d\n", sum), sum != 496;
}
