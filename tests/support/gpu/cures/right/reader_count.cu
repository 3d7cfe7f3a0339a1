// Readers and writer: readers count themselves, a writer waits until there are none.
#include <cstdio>
#include <cuda_runtime.h>

struct ReadWriteLock {
  int readers;  // -1: a writer

  __device__ void lock_shared() {
    int seen = atomicAdd(&readers, 0);
    while (seen < 0 || atomicCAS(&readers, seen, seen + 1) != seen) seen = atomicAdd(&readers, 0);
    __threadfence();
  }
  __device__ void unlock_shared() {
    __threadfence();
    atomicSub(&readers, 1);
  }
  __device__ void lock() {
    while (atomicCAS(&readers, 0, -1) != 0) {
    }
    __threadfence();
  }
  __device__ void unlock() {
    __threadfence();
    atomicExch(&readers, 0);
  }
};

__global__ void use(ReadWriteLock *guard, int *value, int *seen) {
  if (blockIdx.x == 0) {
    guard->lock();
    *value += 1;
    guard->unlock();
  } else {
    guard->lock_shared();
    seen[blockIdx.x] = *value;
    guard->unlock_shared();
  }
}

int main() {
  int *words;
  cudaMallocManaged(&words, 8 * sizeof(int));
  for (int i = 0; i < 8; ++i) words[i] = 0;
  use<<<5, 1>>>(reinterpret_cast<ReadWriteLock *>(words), words + 1, words + 2);
  cudaDeviceSynchronize();
  return printf("%d\n", words[1]), words[1] != 1;
}
