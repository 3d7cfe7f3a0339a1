// Linked list: nodes are pushed by compare-and-swap while another block walks it.
#include <cstdio>
#include <cuda_runtime.h>

struct Node {
  int value;
  Node *next;
};

__device__ unsigned long long head;

__global__ void build_and_walk(Node *nodes, int count, int *sum) {
  if (blockIdx.x == 0) {
    Node *node = &nodes[threadIdx.x];
    node->value = threadIdx.x + 1;
    unsigned long long old = atomicAdd(&head, 0ull), seen;
    do {
      seen = old;
      node->next = reinterpret_cast<Node *>(seen);
      old = atomicCAS(&head, seen, reinterpret_cast<unsigned long long>(node));
    } while (old != seen);
  } else if (threadIdx.x == 0) {
    for (int found = 0; found < count;) {
      const Node *first = reinterpret_cast<const Node *>(atomicAdd(&head, 0ull));
      __threadfence();
      found = *sum = 0;
      for (const Node *node = first; node; node = node->next) *sum += node->value, ++found;
    }
  }
}

int main() {
  Node *nodes;
  int *sum;
  cudaMalloc(&nodes, 4 * sizeof(Node));
  cudaMallocManaged(&sum, sizeof(int));
  build_and_walk<<<2, 4>>>(nodes, 4, sum);
  cudaDeviceSynchronize();
  return printf("sum %d\n", *sum), *sum != 10;
}
