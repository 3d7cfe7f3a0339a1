// Two-dimensional wavelet transform: a block transforms a strip of rows in shared memory, from
// which neighbours' borders are left out, so that it reads them where the neighbour stores.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `DWT2D` of Rodinia.
#include <algorithm>

#include "../../cuda/programs/program.cuh"

constexpr int WIDTH = 64, HEIGHT = 64, ROWS = 16;

// Predicts odd rows from even ones in place; the last odd row of a strip needs the next strip's
// first row, and the first even row needs the last odd row of the strip before.
__global__ void vertical(int *image) {
  __shared__ int strip[ROWS + 1][WIDTH];
  const int x = threadIdx.x, first = blockIdx.x * ROWS;
  for (int row = 0; row <= ROWS; ++row)
    strip[row][x] = image[min(first + row, HEIGHT - 1) * WIDTH + x];
  __syncthreads();
  for (int row = 1; row < ROWS; row += 2) strip[row][x] -= (strip[row - 1][x] + strip[row + 1][x]) / 2;
  __syncthreads();
  for (int row = 0; row < ROWS; ++row) image[(first + row) * WIDTH + x] = strip[row][x];
  const int before = max(first - 1, 0);
  image[first * WIDTH + x] += image[before * WIDTH + x] / 4;
}

__global__ void horizontal(int *image) {
  __shared__ int line[WIDTH];
  const int x = threadIdx.x, row = blockIdx.x;
  line[x] = image[row * WIDTH + x];
  __syncthreads();
  const int odd = x | 1, last = min(odd + 1, WIDTH - 2);
  const int detail = line[odd] - (line[odd - 1] + line[last]) / 2;
  __syncthreads();
  image[row * WIDTH + (x % 2 * WIDTH + x - x % 2) / 2] = x % 2 ? detail : line[x];
}

int main() {
  const std::vector<int> input = random_numbers(WIDTH * HEIGHT, 256);
  int *image = to_device(input);
  vertical<<<HEIGHT / ROWS, WIDTH>>>(image);
  horizontal<<<HEIGHT, WIDTH>>>(image);
  const std::vector<int> found = to_host(image, WIDTH * HEIGHT);
  bool right = true;
  // First and last rows of strips depend on the order of blocks.
  for (int row = 1; row < HEIGHT; ++row) {
    if (row % ROWS == 0 || row % ROWS == ROWS - 1) continue;
    const auto vertical_at = [&](int x) {
      const int *own = &input[row * WIDTH + x];
      return row % 2 ? own[0] - (own[-WIDTH] + own[WIDTH]) / 2 : own[0];
    };
    for (int x = 0; x < WIDTH; x += 2) {
      const int even = vertical_at(x), next = vertical_at(std::min(x + 2, WIDTH - 2));
      right &= found[row * WIDTH + x / 2] == even;
      right &= found[row * WIDTH + (WIDTH + x) / 2] == vertical_at(x + 1) - (even + next) / 2;
    }
  }
  return verdict(right);
}
