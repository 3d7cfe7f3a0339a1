// Host's side of the work queues of ScoR's graph applications.
#pragma once

#include "program.cuh"

struct HostQueues {
  int blocks, threads;
  int *heads, *tails, *chunks, *owners;

  HostQueues(int blocks, int threads)
      : blocks(blocks),
        threads(threads),
        heads(zeros_on_device<int>(blocks)),
        tails(zeros_on_device<int>(blocks)),
        chunks(zeros_on_device<int>(blocks)),
        owners(zeros_on_device<int>(blocks)) {}

  // Runs a kernel over `items` items, shared out evenly.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(int *, const int *, int *, int *, Parameters...), int items,
              Arguments... arguments) {
    std::vector<int> bounds;
    for (int block = 0; block <= blocks; ++block) bounds.push_back(items * block / blocks);
    CHECK(cudaMemcpy(heads, &bounds[0], blocks * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(tails, &bounds[1], blocks * sizeof(int), cudaMemcpyHostToDevice));
    kernel<<<blocks, threads>>>(heads, tails, chunks, owners, arguments...);
    CHECK(cudaGetLastError());
  }
};

// `count` edges between different vertices, two numbers each.
inline std::vector<int> random_edges(int count, int vertices) {
  std::vector<int> edges = random_numbers(2 * count, vertices);
  for (int edge = 0; edge < count; ++edge) {
    if (edges[2 * edge] == edges[2 * edge + 1]) {
      edges[2 * edge + 1] = (edges[2 * edge] + 1) % vertices;
    }
  }
  return edges;
}
