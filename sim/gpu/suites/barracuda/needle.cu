// Needleman and Wunsch's alignment: a launch for each diagonal of tiles, which a warp fills in
// shared memory diagonal by diagonal.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Needle` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int TILE = 16, TILES = 3, SIDE = TILE * TILES + 1, PENALTY = 2;

__host__ __device__ inline int best(int corner, int left, int up, int score) {
  const int gap = (left > up ? left : up) - PENALTY;
  return corner + score > gap ? corner + score : gap;
}

__global__ void align(const int *score, int *table, int diagonal, int first) {
  __shared__ int part[TILE + 1][TILE + 1], own[TILE][TILE];
  const int tx = threadIdx.x, tile_x = first + blockIdx.x, tile_y = diagonal - tile_x;
  int *corner = table + tile_y * TILE * SIDE + tile_x * TILE;
  for (int y = 0; y < TILE; ++y)
    own[y][tx] = score[(tile_y * TILE + y + 1) * SIDE + tile_x * TILE + tx + 1];
  if (tx == 0) part[0][0] = corner[0];
  __syncthreads();
  part[tx + 1][0] = corner[(tx + 1) * SIDE];
  part[0][tx + 1] = corner[tx + 1];
  __syncthreads();
  for (int step = 0; step < 2 * TILE - 1; ++step) {
    const int x = tx, y = step - tx;
    if (y >= 0 && y < TILE)
      part[y + 1][x + 1] = best(part[y][x], part[y + 1][x], part[y][x + 1], own[y][x]);
    __syncthreads();
  }
  for (int y = 0; y < TILE; ++y) corner[(y + 1) * SIDE + tx + 1] = part[y + 1][tx + 1];
}

int main() {
  const std::vector<int> scores = random_numbers(SIDE * SIDE, 9);
  std::vector<int> expected(SIDE * SIDE);
  for (int i = 0; i < SIDE; ++i) expected[i] = expected[i * SIDE] = -i * PENALTY;
  const int *score = to_device(scores);
  int *table = to_device(expected);
  for (int y = 1; y < SIDE; ++y)
    for (int x = 1; x < SIDE; ++x)
      expected[y * SIDE + x] = best(expected[(y - 1) * SIDE + x - 1], expected[y * SIDE + x - 1],
                                    expected[(y - 1) * SIDE + x], scores[y * SIDE + x]);
  for (int diagonal = 0; diagonal < 2 * TILES - 1; ++diagonal) {
    const int first = diagonal < TILES ? 0 : diagonal - TILES + 1;
    const int last = diagonal < TILES ? diagonal : TILES - 1;
    align<<<last - first + 1, TILE>>>(score, table, diagonal, first);
  }
  return verdict(to_host(table, SIDE * SIDE) == expected);
}
