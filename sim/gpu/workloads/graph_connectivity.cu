// Connected components: every vertex points to a smaller one of its component, at the end to the
// smallest.  Three launches, each over work queues.

#include "work_queue.cuh"

__device__ int read(int *parents, int vertex) { return atomicAdd(&parents[vertex], 0); }

extern "C" __global__ void init(int *heads, const int *tails, int *chunks, int *owners,
                                int *parents, unsigned switches) {
  for_each_item({heads, tails, chunks, owners}, switches,
                [=](int vertex) { parents[vertex] = vertex; });
}

extern "C" __global__ void link(int *heads, const int *tails, int *chunks, int *owners,
                                int *parents, const int *edges, unsigned switches) {
  for_each_item({heads, tails, chunks, owners}, switches, [=](int edge) {
    int one = read(parents, edges[2 * edge]);
    int other = read(parents, edges[2 * edge + 1]);
    while (one != other) {
      const int high = max(one, other);
      const int low = min(one, other);
      const int old = atomicCAS(&parents[high], high, low);
      if (old == high || old == low) break;
      one = read(parents, read(parents, high));
      other = read(parents, low);
    }
  });
}

extern "C" __global__ void compress(int *heads, const int *tails, int *chunks, int *owners,
                                    int *parents, unsigned switches) {
  for_each_item({heads, tails, chunks, owners}, switches, [=](int vertex) {
    int parent = read(parents, vertex);
    int grandparent = read(parents, parent);
    while (parent != grandparent) {
      const int old = atomicCAS(&parents[vertex], parent, grandparent);
      parent = old == parent ? grandparent : read(parents, vertex);
      grandparent = read(parents, parent);
    }
  });
}
