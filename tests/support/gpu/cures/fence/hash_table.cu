// Hash table with open addressing: writers claim a slot, then mark it as filled.
#include <cstdio>
#include <cuda_runtime.h>

enum State { EMPTY, CLAIMED, FILLED };

struct Slot {
  int state, key, value;
};

__device__ void insert(Slot *table, int size, int key, int value) {
  for (int i = key % size;; i = (i + 1) % size) {
    if (atomicCAS(&table[i].state, EMPTY, CLAIMED) == EMPTY) {
      table[i].key = key;
      table[i].value = value;
      atomicExch(&table[i].state, FILLED);
      return;
    }
  }
}

__device__ int find(Slot *table, int size, int key) {
  for (int i = key % size;; i = (i + 1) % size) {
    int state;
    do state = atomicAdd(&table[i].state, 0);
    while (state != FILLED);
    __threadfence();
    if (table[i].key == key) return table[i].value;
  }
}

__global__ void fill_and_find(Slot *table, int *out) {
  const int key = 3 * threadIdx.x;
  if (blockIdx.x == 0) insert(table, 16, key, key + 1);
  else out[threadIdx.x] = find(table, 16, key);
}

int main() {
  Slot *table;
  int *out, wrong = 0;
  cudaMalloc(&table, 16 * sizeof(Slot));
  cudaMemset(table, 0, 16 * sizeof(Slot));
  cudaMallocManaged(&out, 8 * sizeof(int));
  fill_and_find<<<2, 8>>>(table, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) wrong += out[i] != 3 * i + 1;
  return printf("%d wrong\n", wrong), wrong != 0;
}
