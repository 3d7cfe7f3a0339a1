// R110 of ScoR as a whole program: kernels of the workload, host code of its own.
#include "../../workloads/rule_110.cu"
#include "program.cuh"

#ifdef RACY
constexpr unsigned SWITCHES = BLOCK_SCOPE_FENCE;
#else
constexpr unsigned SWITCHES = 0;
#endif

int main() {
  constexpr int BLOCKS = 4, THREADS = 64, CELLS = 180, STEPS = 3;
  std::vector<int> cells = random_numbers(CELLS, 2);
  int *memory = to_device(cells);
  int *copy = zeros_on_device<int>(CELLS), *flags = zeros_on_device<int>(BLOCKS * THREADS);
  for (int step = 1; step <= STEPS; ++step) {
    advance<<<BLOCKS, THREADS>>>(memory, copy, flags, CELLS, step, SWITCHES);
    CHECK(cudaGetLastError());
    std::vector<int> next(CELLS);
    for (int i = 0; i < CELLS; ++i) {
      const int left = i > 0 ? cells[i - 1] : 0, right = i + 1 < CELLS ? cells[i + 1] : 0;
      next[i] = 110 >> (left << 2 | cells[i] << 1 | right) & 1;
    }
    cells = next;
  }
  return verdict(to_host(memory, CELLS) == cells);
}
