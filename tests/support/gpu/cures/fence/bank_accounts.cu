// Transfers between accounts, each with its own lock, taken in order.
#include <cstdio>
#include <cuda_runtime.h>

struct Account {
  int lock, balance;
};

__device__ void acquire(int *lock) {
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
  __threadfence();
}

__device__ void release(int *lock) {
  atomicExch(lock, 0);
}

__global__ void transfer(Account *accounts, int count) {
  const int from = blockIdx.x % count, to = (blockIdx.x + 1) % count;
  const int first = min(from, to), second = max(from, to);
  acquire(&accounts[first].lock);
  acquire(&accounts[second].lock);
  accounts[from].balance -= 10;
  accounts[to].balance += 10;
  release(&accounts[second].lock);
  release(&accounts[first].lock);
}

int main() {
  Account *accounts;
  int sum = 0;
  cudaMallocManaged(&accounts, 3 * sizeof(Account));
  for (int i = 0; i < 3; ++i) accounts[i] = {0, 100};
  transfer<<<6, 1>>>(accounts, 3);
  cudaDeviceSynchronize();
  for (int i = 0; i < 3; ++i) sum += accounts[i].balance;
  return printf("sum %d\n", sum), sum != 300;
}
