// Distances in a graph: a launch for each frontier, whose vertices append the next to a queue.
#include <queue>

#include "program.cuh"

__global__ void expand(const int *starts, const int *neighbours, int *distances, int distance,
                       const int *frontier, int size, int *next, int *next_size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int vertex = frontier[i];
  for (int edge = starts[vertex]; edge < starts[vertex + 1]; ++edge) {
    const int neighbour = neighbours[edge];
    if (atomicCAS(&distances[neighbour], -1, distance) != -1) continue;
#ifdef RACY
    const int place = (*next_size)++;
#else
    const int place = atomicAdd(next_size, 1);
#endif
    next[place] = neighbour;
  }
}

int main() {
  constexpr int VERTICES = 400, DEGREE = 3;
  const std::vector<int> neighbours = random_numbers(VERTICES * DEGREE, VERTICES);
  std::vector<int> starts(VERTICES + 1), expected(VERTICES, -1), distances(VERTICES, -1);
  for (int vertex = 0; vertex <= VERTICES; ++vertex) starts[vertex] = vertex * DEGREE;
  std::queue<int> queue({0});
  expected[0] = distances[0] = 0;
  for (; !queue.empty(); queue.pop()) {
    for (int k = 0; k < DEGREE; ++k) {
      const int neighbour = neighbours[queue.front() * DEGREE + k];
      if (expected[neighbour] != -1) continue;
      expected[neighbour] = expected[queue.front()] + 1;
      queue.push(neighbour);
    }
  }
  const int *edges = to_device(neighbours), *firsts = to_device(starts);
  int *found = to_device(distances);
  int *frontier = zeros_on_device<int>(VERTICES), *next = zeros_on_device<int>(VERTICES);
  int *next_size = zeros_on_device<int>(1);
  for (int distance = 1, size = 1; size > 0; ++distance) {
    CHECK(cudaMemset(next_size, 0, sizeof(int)));
    expand<<<(size + 63) / 64, 64>>>(firsts, edges, found, distance, frontier, size, next,
                                     next_size);
    CHECK(cudaGetLastError());
    size = to_host(next_size, 1)[0];
    std::swap(frontier, next);
  }
  return verdict(to_host(found, VERTICES) == expected);
}
