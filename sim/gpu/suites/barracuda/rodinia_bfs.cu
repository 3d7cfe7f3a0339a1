// Breadth-first search by masks: a thread a vertex, two kernels a level.  Vertices of a level that
// share a neighbour store the same cost and the same mark.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `BFS` of Rodinia.
#include "../../cuda/programs/program.cuh"

__global__ void expand(const int *starts, const int *neighbours, bool *mask, bool *updating,
                       const bool *visited, int *cost, int vertices) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= vertices || !mask[own]) return;
  mask[own] = false;
  for (int edge = starts[own]; edge < starts[own + 1]; ++edge) {
    const int other = neighbours[edge];
    if (visited[other]) continue;
    cost[other] = cost[own] + 1;
    updating[other] = true;
  }
}

__global__ void advance(bool *mask, bool *updating, bool *visited, bool *more, int vertices) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= vertices || !updating[own]) return;
  mask[own] = true;
  visited[own] = true;
  *more = true;
  updating[own] = false;
}

int main() {
  constexpr int VERTICES = 512, DEGREE = 3, THREADS = 128;
  const std::vector<int> random = random_numbers(VERTICES * DEGREE, VERTICES);
  std::vector<int> starts(VERTICES + 1), expected(VERTICES, -1);
  for (int vertex = 0; vertex <= VERTICES; ++vertex) starts[vertex] = vertex * DEGREE;
  std::vector<int> level{0}, next;
  expected[0] = 0;
  for (; !level.empty(); level.swap(next), next.clear())
    for (int vertex : level)
      for (int k = 0; k < DEGREE; ++k)
        if (int other = random[vertex * DEGREE + k]; expected[other] < 0) {
          expected[other] = expected[vertex] + 1;
          next.push_back(other);
        }
  const int *edges = to_device(random), *firsts = to_device(starts);
  std::vector<int> costs(VERTICES, -1);
  costs[0] = 0;
  int *cost = to_device(costs);
  bool *mask = zeros_on_device<bool>(VERTICES), *updating = zeros_on_device<bool>(VERTICES);
  bool *visited = zeros_on_device<bool>(VERTICES), *more = zeros_on_device<bool>(1);
  CHECK(cudaMemset(mask, 1, 1));
  CHECK(cudaMemset(visited, 1, 1));
  bool goes_on = true;
  while (goes_on) {
    CHECK(cudaMemset(more, 0, 1));
    expand<<<VERTICES / THREADS, THREADS>>>(firsts, edges, mask, updating, visited, cost, VERTICES);
    advance<<<VERTICES / THREADS, THREADS>>>(mask, updating, visited, more, VERTICES);
    CHECK(cudaMemcpy(&goes_on, more, 1, cudaMemcpyDeviceToHost));
  }
  return verdict(to_host(cost, VERTICES) == expected);
}
