// MM of ScoR as a whole program: kernels of the workload, host code of its own.
#include "../../workloads/matrix_multiplication.cu"
#include "program.cuh"

#ifdef RACY
constexpr unsigned SWITCHES = NO_RELEASE_FENCE | BLOCK_SCOPE_LOCK;
#else
constexpr unsigned SWITCHES = 0;
#endif

int main() {
  constexpr int BLOCKS = 8, THREADS = 64, ROWS = 4, INNER = 16, COLUMNS = 32, DEPTH = 4;
  constexpr int LANES = 32;
  const std::vector<int> numbers = random_numbers(ROWS * INNER + INNER * COLUMNS, 8);
  const std::vector<float> a(numbers.begin(), numbers.begin() + ROWS * INNER);
  const std::vector<float> b(numbers.begin() + ROWS * INNER, numbers.end());
  std::vector<float> expected(ROWS * COLUMNS);
  for (int row = 0; row < ROWS; ++row) {
    for (int k = 0; k < INNER; ++k) {
      for (int column = 0; column < COLUMNS; ++column) {
        expected[row * COLUMNS + column] += a[row * INNER + k] * b[k * COLUMNS + column];
      }
    }
  }
  float *c = zeros_on_device<float>(ROWS * COLUMNS);
  multiply<<<BLOCKS, THREADS>>>(to_device(a), to_device(b), c,
                                zeros_on_device<float>(BLOCKS * LANES),
                                zeros_on_device<int>(BLOCKS * LANES), zeros_on_device<int>(THREADS),
                                ROWS, INNER, COLUMNS, DEPTH, SWITCHES);
  CHECK(cudaGetLastError());
  return verdict(to_host(c, ROWS * COLUMNS) == expected);
}
