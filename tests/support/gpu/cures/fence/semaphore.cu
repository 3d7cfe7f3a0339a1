// Semaphore with one permit, in templates; users of the resource count themselves.
#include <cstdio>
#include <cuda_runtime.h>

template <int PERMITS>
struct Semaphore {
  int free;

  __device__ void wait() {
    for (int seen = atomicAdd(&free, 0);;) {
      const int old = seen > 0 ? atomicCAS(&free, seen, seen - 1) : -1;
      if (old == seen) break;
      seen = atomicAdd(&free, 0);
    }
    __threadfence();
  }

  __device__ void signal() {
    __threadfence_block();
    atomicAdd(&free, 1);
  }
};

__global__ void use(Semaphore<1> *semaphore, int *users) {
  if (threadIdx.x == 0) {
    semaphore->wait();
    *users += 1;
    semaphore->signal();
  }
}

int main() {
  Semaphore<1> *semaphore;
  int *users;
  cudaMallocManaged(&semaphore, sizeof(Semaphore<1>));
  cudaMallocManaged(&users, sizeof(int));
  semaphore->free = 1;
  *users = 0;
  use<<<5, 32>>>(semaphore, users);
  cudaDeviceSynchronize();
  return printf("%d users\n", *users), *users != 5;
}
