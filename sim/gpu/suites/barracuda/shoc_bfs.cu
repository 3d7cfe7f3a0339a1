// Breadth-first search by levels: vertices of a level store their neighbours' level and a flag,
// without atomics or fences.
//
// Ref: BARRACUDA (PLDI'17) Table 1 and Section 6.3, `BFS` of SHOC.
#include "../../cuda/programs/program.cuh"

constexpr int VERTICES = 512, DEGREE = 4, THREADS = 64;

__global__ void level(unsigned *levels, const int *starts, const int *neighbours, unsigned now,
                      int *more) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (levels[own] != now) return;
  for (int edge = starts[own]; edge < starts[own + 1]; ++edge) {
    const int other = neighbours[edge];
    if (levels[other] == ~0u) {
      levels[other] = now + 1;
      *more = 1;
    }
  }
}

int main() {
  const std::vector<int> random = random_numbers(VERTICES * DEGREE, VERTICES);
  std::vector<int> starts(VERTICES + 1);
  for (int vertex = 0; vertex <= VERTICES; ++vertex) starts[vertex] = vertex * DEGREE;
  std::vector<unsigned> expected(VERTICES, ~0u);
  expected[0] = 0;
  const int *edges = to_device(random), *firsts = to_device(starts);
  unsigned *levels = to_device(expected);
  int *more = zeros_on_device<int>(1), goes_on = 1;
  for (unsigned now = 0; goes_on; ++now) {
    CHECK(cudaMemset(more, 0, sizeof(int)));
    level<<<VERTICES / THREADS, THREADS>>>(levels, firsts, edges, now, more);
    goes_on = to_host(more, 1)[0];
    for (int vertex = 0; vertex < VERTICES; ++vertex)
      for (int k = 0; expected[vertex] == now && k < DEGREE; ++k)
        if (unsigned &other = expected[random[vertex * DEGREE + k]]; other == ~0u) other = now + 1;
  }
  return verdict(to_host(levels, VERTICES) == expected);
}
