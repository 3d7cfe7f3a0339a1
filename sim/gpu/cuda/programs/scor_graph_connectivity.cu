// GCON of ScoR as a whole program: kernels of the workload, host code of its own.
#include <numeric>

// The C library has a function of this name.
#define link link_components
#include "../../workloads/graph_connectivity.cu"
#undef link
#include "scor_queues.cuh"

#ifdef RACY
constexpr unsigned SWITCHES = NO_BARRIER_BEFORE_TAKE | BLOCK_SCOPE_STEAL;
#else
constexpr unsigned SWITCHES = 0;
#endif

int main() {
  constexpr int VERTICES = 500, EDGES = 400;
  const std::vector<int> edges = random_edges(EDGES, VERTICES);
  std::vector<int> expected(VERTICES);
  std::iota(expected.begin(), expected.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (int edge = 0; edge < EDGES; ++edge) {
      int &one = expected[edges[2 * edge]], &other = expected[edges[2 * edge + 1]];
      changed |= one != other;
      one = other = std::min(one, other);
    }
  }
  HostQueues queues(4, 64);
  int *parents = zeros_on_device<int>(VERTICES);
  queues.launch(init, VERTICES, parents, SWITCHES);
  queues.launch(link_components, EDGES, parents, to_device(edges), SWITCHES);
  queues.launch(compress, VERTICES, parents, SWITCHES);
  return verdict(to_host(parents, VERTICES) == expected);
}
