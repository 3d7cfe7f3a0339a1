// GCOL of ScoR as a whole program: kernels of the workload, host code of its own.
#include "../../workloads/graph_coloring.cu"
#include "scor_queues.cuh"

#ifdef RACY
constexpr unsigned SWITCHES = BLOCK_SCOPE_TAKE | NO_BARRIER_AFTER_TAKE;
#else
constexpr unsigned SWITCHES = 0;
#endif

int main() {
  constexpr int VERTICES = 300, EDGES = 400, MOST_ROUNDS = 50;
  const std::vector<int> edges = random_edges(EDGES, VERTICES);
  HostQueues queues(4, 64);
  const int *list = to_device(edges);
  unsigned *colors = zeros_on_device<unsigned>(VERTICES);
  unsigned *forbidden = zeros_on_device<unsigned>(VERTICES);
  unsigned *tried = zeros_on_device<unsigned>(VERTICES);
  int *sets = zeros_on_device<int>(VERTICES), *complete = zeros_on_device<int>(1);
  for (int round = 0, done = 0; !done && round < MOST_ROUNDS; ++round) {
    done = 1;
    CHECK(cudaMemcpy(complete, &done, sizeof(int), cudaMemcpyHostToDevice));
    queues.launch(assign, VERTICES, colors, sets, forbidden, tried, SWITCHES);
    queues.launch(detect, EDGES, colors, sets, list, complete, SWITCHES);
    queues.launch(forbid, EDGES, colors, sets, forbidden, list, SWITCHES);
    done = to_host(complete, 1)[0];
  }
  const std::vector<unsigned> found = to_host(colors, VERTICES);
  const std::vector<int> set = to_host(sets, VERTICES);
  bool right = true;
  for (unsigned color : found) right &= color != 0;
  for (int edge = 0; edge < EDGES; ++edge) {
    const int one = edges[2 * edge], other = edges[2 * edge + 1];
    right &= found[one] != found[other] || set[one] != set[other];
  }
  return verdict(right);
}
