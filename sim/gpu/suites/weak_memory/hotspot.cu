// Hotspot: temperature of a chip, several steps of a stencil in shared memory for each kernel.
//
// Ref: Bugaroo Table I, `hotspot`.

#include "common.cuh"

// A block of SIDE x SIDE threads computes STEPS steps of all cells but those of a rim.
enum { SIDE = 8, STEPS = 2, INNER = SIDE - 2 * STEPS };

KERNEL(hotspot_original)(const int *before, const int *power, int *after) {
  __shared__ int cells[SIDE][SIDE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int columns = gridDim.x * INNER, rows = gridDim.y * INNER;
  const int column = int(blockIdx.x) * INNER + x - STEPS, row = int(blockIdx.y) * INNER + y - STEPS;
  const bool is_inside = column >= 0 && column < columns && row >= 0 && row < rows;
  cells[y][x] = is_inside ? before[row * columns + column] : 0;
  const int heat = is_inside ? power[row * columns + column] : 0;
  __syncthreads();
  for (int rim = 1; rim <= STEPS; ++rim) {
    const bool is_known = x >= rim && x < SIDE - rim && y >= rim && y < SIDE - rim;
    int next = 0;
    if (is_known && is_inside) {
      const int own = cells[y][x];
      const int west = column > 0 ? cells[y][x - 1] : own;
      const int east = column < columns - 1 ? cells[y][x + 1] : own;
      const int north = row > 0 ? cells[y - 1][x] : own;
      const int south = row < rows - 1 ? cells[y + 1][x] : own;
      next = own + heat + (west + east + north + south - 4 * own) / 8;
    }
    __syncthreads();
    if (is_known) cells[y][x] = next;
    __syncthreads();
  }
  const bool is_result = x >= STEPS && x < SIDE - STEPS && y >= STEPS && y < SIDE - STEPS;
  if (is_result) after[row * columns + column] = cells[y][x];
}
