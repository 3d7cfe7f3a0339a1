// RED of ScoR as a whole program: kernels of the workload, host code of its own.
#include <numeric>

#include "../../workloads/reduction.cu"
#include "program.cuh"

#ifdef RACY
constexpr unsigned SWITCHES = NO_FLAG_FENCE | BLOCK_SCOPE_FENCE;
#else
constexpr unsigned SWITCHES = 0;
#endif

int main() {
  constexpr int BLOCKS = 4, THREADS = 512;
  std::vector<unsigned> input;
  for (int value : random_numbers(5000, 1 << 30)) input.push_back(static_cast<unsigned>(value));
  unsigned *sums = zeros_on_device<unsigned>(BLOCKS);
  reduce<<<BLOCKS, THREADS>>>(to_device(input), sums, zeros_on_device<unsigned>(BLOCKS * THREADS),
                              zeros_on_device<unsigned>(BLOCKS * THREADS),
                              static_cast<int>(input.size()), SWITCHES);
  CHECK(cudaGetLastError());
  return verdict(to_host(sums, 1)[0] == std::accumulate(input.begin(), input.end(), 0u));
}
