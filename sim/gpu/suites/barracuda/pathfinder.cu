// Cheapest path through a grid, row by row: a block computes some rows of a tile in shared memory.
// As in the first versions of the benchmark there is no barrier behind the copy to `before`.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Pathfinder` of Rodinia.
#include <algorithm>

#include "../../cuda/programs/program.cuh"

constexpr int THREADS = 64, STEPS = 4, INNER = THREADS - 2 * STEPS, COLUMNS = 3 * INNER;

__global__ void rows(const int *wall, const int *source, int *target) {
  __shared__ int before[THREADS], after[THREADS];
  const int tx = threadIdx.x, x = blockIdx.x * INNER + tx - STEPS;
  const bool inside = x >= 0 && x < COLUMNS;
  if (inside) before[tx] = source[x];
  bool computed = false;
  for (int step = 0; step < STEPS; ++step) {
    computed = inside && tx > step && tx < THREADS - 1 - step;
    if (computed) {
      const int left = before[x ? tx - 1 : tx], right = before[x < COLUMNS - 1 ? tx + 1 : tx];
      after[tx] = min(min(left, before[tx]), right) + wall[step * COLUMNS + x];
    }
    __syncthreads();
    if (step == STEPS - 1) break;
    if (computed) before[tx] = after[tx];
  }
  if (computed) target[x] = after[tx];
}

int main() {
  const std::vector<int> walls = random_numbers(STEPS * COLUMNS, 10), start = random_numbers(COLUMNS, 10);
  const int *wall = to_device(walls), *source = to_device(start);
  int *target = zeros_on_device<int>(COLUMNS);
  rows<<<COLUMNS / INNER, THREADS>>>(wall, source, target);
  std::vector<int> old = start, expected(COLUMNS);
  for (int step = 0; step < STEPS; ++step, old = expected)
    for (int x = 0; x < COLUMNS; ++x)
      expected[x] = std::min({old[x ? x - 1 : x], old[x], old[x < COLUMNS - 1 ? x + 1 : x]}) +
                    walls[step * COLUMNS + x];
  const std::vector<int> found = to_host(target, COLUMNS);
  bool right = true;
  // Columns near the border of two warps depend on their order.
  for (int x = 0; x < COLUMNS; ++x)
    if (std::abs(x % INNER + STEPS - 32) > STEPS) right &= found[x] == expected[x];
  return verdict(right);
}
