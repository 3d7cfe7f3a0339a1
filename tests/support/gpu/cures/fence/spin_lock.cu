// A list that grows behind a spin lock.
#include <cstdio>
#include <cuda_runtime.h>

struct SpinLock {
  int state;

  __device__ void lock() {
    while (atomicCAS(&state, 0, 1) != 0);
  }

  __device__ void unlock() {
    __threadfence();
    atomicExch(&state, 0);
  }
};

__global__ void insert(SpinLock *guard, int *size, int *list) {
  guard->lock();
  list[(*size)++] = blockIdx.x;
  guard->unlock();
}

int main() {
  SpinLock *guard;
  int *size, *list;
  cudaMallocManaged(&guard, sizeof(SpinLock));
  cudaMallocManaged(&size, sizeof(int));
  cudaMallocManaged(&list, 6 * sizeof(int));
  guard->state = *size = 0;
  insert<<<6, 1>>>(guard, size, list);
  cudaDeviceSynchronize();
  return printf("%d entries\n", *size), *size != 6;
}
