// Matrix product by tiles in shared memory; the kernel is a template of the size of a tile.
#include "program.cuh"

template <int TILE>
__global__ void multiply(const float *a, const float *b, float *c, int size) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < size; first += TILE) {
    left[threadIdx.y][threadIdx.x] = a[row * size + first + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + column];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
#ifndef RACY
    __syncthreads();
#endif
  }
  c[row * size + column] = sum;
}

int main() {
  constexpr int SIZE = 48, TILE = 16;
  const std::vector<int> numbers = random_numbers(2 * SIZE * SIZE, 10);
  const std::vector<float> a(numbers.begin(), numbers.begin() + SIZE * SIZE);
  const std::vector<float> b(numbers.begin() + SIZE * SIZE, numbers.end());
  std::vector<float> expected(SIZE * SIZE);
  for (int row = 0; row < SIZE; ++row) {
    for (int k = 0; k < SIZE; ++k) {
      for (int column = 0; column < SIZE; ++column) {
        expected[row * SIZE + column] += a[row * SIZE + k] * b[k * SIZE + column];
      }
    }
  }
  float *c = zeros_on_device<float>(SIZE * SIZE);
  multiply<TILE><<<dim3(SIZE / TILE, SIZE / TILE), dim3(TILE, TILE)>>>(to_device(a), to_device(b),
                                                                       c, SIZE);
  CHECK(cudaGetLastError());
  return verdict(to_host(c, SIZE * SIZE) == expected);
}
