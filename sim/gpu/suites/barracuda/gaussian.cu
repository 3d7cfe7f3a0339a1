// Gaussian elimination: for each column a kernel for its multipliers and one for the rows below.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Gaussian` of Rodinia.
#include <algorithm>
#include <cmath>

#include "../../cuda/programs/program.cuh"

constexpr int SIZE = 16, TILE = 4;

__global__ void multipliers(float *factor, const float *a, int column) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x + column + 1;
  if (row < SIZE) factor[row * SIZE + column] = a[row * SIZE + column] / a[column * SIZE + column];
}

__global__ void eliminate(const float *factor, float *a, float *b, int column) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x + column + 1;
  const int x = blockIdx.y * blockDim.y + threadIdx.y + column;
  if (row >= SIZE || x >= SIZE) return;
  a[row * SIZE + x] -= factor[row * SIZE + column] * a[column * SIZE + x];
  if (x == column) b[row] -= factor[row * SIZE + column] * b[column];
}

int main() {
  std::vector<float> a(SIZE * SIZE), b(SIZE, 1.0f);
  for (int i = 0; i < SIZE * SIZE; ++i) a[i] = i % (SIZE + 1) ? 1.0f / (1 + i % 7) : 9.0f;
  float *matrix = to_device(a), *right = to_device(b), *factor = zeros_on_device<float>(SIZE * SIZE);
  for (int column = 0; column < SIZE - 1; ++column) {
    multipliers<<<1, SIZE>>>(factor, matrix, column);
    eliminate<<<dim3(SIZE / TILE, SIZE / TILE), dim3(TILE, TILE)>>>(factor, matrix, right, column);
  }
  const std::vector<float> upper = to_host(matrix, SIZE * SIZE), rest = to_host(right, SIZE);
  std::vector<float> x(SIZE);
  for (int row = SIZE - 1; row >= 0; --row) {
    x[row] = rest[row];
    for (int k = row + 1; k < SIZE; ++k) x[row] -= upper[row * SIZE + k] * x[k];
    x[row] /= upper[row * SIZE + row];
  }
  float worst = 0;
  for (int row = 0; row < SIZE; ++row) {
    float sum = 0;
    for (int k = 0; k < SIZE; ++k) sum += a[row * SIZE + k] * x[k];
    worst = std::max(worst, std::abs(sum - b[row]));
  }
  return verdict(worst < 1e-4f);
}
