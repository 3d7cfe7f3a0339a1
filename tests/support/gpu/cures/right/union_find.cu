// Union-find by compare-and-swap: roots are hooked under smaller ones.
#include <cstdio>
#include <cuda_runtime.h>

__device__ int root(int *parent, int node) {
  for (int up = atomicAdd(&parent[node], 0); up != node; up = atomicAdd(&parent[node], 0))
    node = up;
  return node;
}

__global__ void unite(int *parent, const int2 *edges) {
  const int2 edge = edges[blockIdx.x * blockDim.x + threadIdx.x];
  while (true) {
    const int a = root(parent, edge.x), b = root(parent, edge.y);
    if (a == b) return;
    const int high = max(a, b), low = min(a, b);
    if (atomicCAS(&parent[high], high, low) == high) return;
  }
}

int main() {
  const int n = 65;
  int *parent;
  int2 *edges;
  cudaMallocManaged(&parent, n * sizeof(int));
  cudaMallocManaged(&edges, (n - 1) * sizeof(int2));
  for (int i = 0; i < n; ++i) parent[i] = i;
  for (int i = 0; i + 1 < n; ++i) edges[i] = make_int2(i, i + 1);
  unite<<<2, 32>>>(parent, edges);
  cudaDeviceSynchronize();
  int roots = 0;
  for (int i = 0; i < n; ++i) roots += parent[i] == i;
  return printf("%d roots\n", roots), roots != 1;
}
