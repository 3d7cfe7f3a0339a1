// Transposed matrix by tiles in shared memory; rows lie apart as cudaMallocPitch has them.
#include "program.cuh"

constexpr int TILE = 16;
constexpr int ROWS = 50, COLUMNS = 70;

__global__ void transpose(const int *input, size_t input_pitch, int *output, size_t output_pitch) {
  __shared__ int tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < COLUMNS && y < ROWS) tile[threadIdx.y][threadIdx.x] = input[y * input_pitch + x];
#ifndef RACY
  __syncthreads();
#endif
  const int row = blockIdx.x * TILE + threadIdx.y, column = blockIdx.y * TILE + threadIdx.x;
  if (row < COLUMNS && column < ROWS) {
    output[row * output_pitch + column] = tile[threadIdx.x][threadIdx.y];
  }
}

int main() {
  const std::vector<int> input = random_numbers(ROWS * COLUMNS, 1000);
  std::vector<int> found(input.size());
  int *values, *result;
  size_t values_pitch, result_pitch;
  CHECK(cudaMallocPitch(&values, &values_pitch, COLUMNS * sizeof(int), ROWS));
  CHECK(cudaMallocPitch(&result, &result_pitch, ROWS * sizeof(int), COLUMNS));
  CHECK(cudaMemcpy2D(values, values_pitch, input.data(), COLUMNS * sizeof(int),
                     COLUMNS * sizeof(int), ROWS, cudaMemcpyHostToDevice));
  const dim3 grid((COLUMNS + TILE - 1) / TILE, (ROWS + TILE - 1) / TILE);
  transpose<<<grid, dim3(TILE, TILE)>>>(values, values_pitch / sizeof(int), result,
                                        result_pitch / sizeof(int));
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(found.data(), ROWS * sizeof(int), result, result_pitch, ROWS * sizeof(int),
                     COLUMNS, cudaMemcpyDeviceToHost));
  bool right = true;
  for (int y = 0; y < ROWS; ++y) {
    for (int x = 0; x < COLUMNS; ++x) right &= found[x * ROWS + y] == input[y * COLUMNS + x];
  }
  return verdict(right);
}
