// Queue of tasks: workers take what block 0 has announced.
#include <cstdio>
#include <cuda_runtime.h>

struct Queue {
  int task[16];
  int announced, taken;
};

__global__ void work(Queue *queue, int tasks, int *done) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < tasks; ++i) {
      queue->task[i] = 100 + i;
      atomicExch(&queue->announced, i + 1);
      __threadfence();
    }
    return;
  }
  for (int mine = atomicAdd(&queue->taken, 1); mine < tasks;
       mine = atomicAdd(&queue->taken, 1)) {
    while (atomicAdd(&queue->announced, 0) <= mine) {
    }
    __threadfence();
    atomicAdd(done, queue->task[mine]);
  }
}

int main() {
  Queue *queue;
  int *done;
  cudaMalloc(&queue, sizeof(Queue));
  cudaMemset(queue, 0, sizeof(Queue));
  cudaMallocManaged(&done, sizeof(int));
  *done = 0;
  work<<<4, 1>>>(queue, 8, done);
  cudaDeviceSynchronize();
  return printf("%d\n", *done), *done != 828;
}
