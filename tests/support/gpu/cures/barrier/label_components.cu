// Connected components of a small graph in one block: labels fall until none changes.
#include <cstdio>
#include <cuda_runtime.h>

struct Edge {
  int from, to;
};

__global__ void label(const Edge *edges, int edge_count, int *labels) {
  __shared__ int changed;
  const int t = threadIdx.x;
  labels[t] = t;
  while (true) {
    __syncthreads();
    if (t == 0) changed = 0;
    if (t < edge_count) {
      const int low = atomicMin(&labels[edges[t].from], atomicAdd(&labels[edges[t].to], 0));
      if (atomicMin(&labels[edges[t].to], low) > low) atomicExch(&changed, 1);
    }
    __syncthreads();
    if (!changed) break;
  }
}

int main() {
  const int nodes = 64;
  Edge *edges;
  int *labels;
  cudaMallocManaged(&edges, (nodes - 1) * sizeof(Edge));
  cudaMallocManaged(&labels, nodes * sizeof(int));
  for (int i = 0; i + 1 < nodes; ++i) edges[i] = {i, i + 1};
  label<<<1, nodes>>>(edges, nodes - 1, labels);
  cudaDeviceSynchronize();
  printf("label of the last node %d\n", labels[nodes - 1]);
  return labels[nodes - 1] != 0;
}
