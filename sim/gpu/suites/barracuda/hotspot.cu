// Heat of a chip: a block computes some steps of a tile and its halo in shared memory.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Hotspot` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int SIDE = 36, TILE = 16, STEPS = 2, INNER = TILE - 2 * STEPS;

__host__ __device__ inline int heat(int old, int up, int down, int left, int right, int power) {
  return (4 * old + up + down + left + right) / 8 + power;
}

__global__ void simulate(const int *power, const int *source, int *target) {
  __shared__ int old[TILE][TILE], now[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * INNER + tx - STEPS, y = blockIdx.y * INNER + ty - STEPS;
  const bool inside = x >= 0 && x < SIDE && y >= 0 && y < SIDE;
  if (inside) old[ty][tx] = source[y * SIDE + x];
  __syncthreads();
  bool computed = false;
  for (int step = 0; step < STEPS; ++step) {
    computed = inside && tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step;
    if (computed)
      now[ty][tx] = heat(old[ty][tx], old[y ? ty - 1 : ty][tx], old[y < SIDE - 1 ? ty + 1 : ty][tx],
                         old[ty][x ? tx - 1 : tx], old[ty][x < SIDE - 1 ? tx + 1 : tx],
                         power[y * SIDE + x]);
    __syncthreads();
    if (step == STEPS - 1) break;
    if (computed) old[ty][tx] = now[ty][tx];
    __syncthreads();
  }
  if (computed) target[y * SIDE + x] = now[ty][tx];
}

int main() {
  const std::vector<int> power = random_numbers(SIDE * SIDE, 9), start = random_numbers(SIDE * SIDE, 300);
  const int *heats = to_device(power), *source = to_device(start);
  int *target = zeros_on_device<int>(SIDE * SIDE);
  simulate<<<dim3(SIDE / INNER, SIDE / INNER), dim3(TILE, TILE)>>>(heats, source, target);
  std::vector<int> old = start, now(SIDE * SIDE);
  for (int step = 0; step < STEPS; ++step, old = now)
    for (int y = 0; y < SIDE; ++y)
      for (int x = 0; x < SIDE; ++x) {
        const auto at = [&](int row, int column) { return old[row * SIDE + column]; };
        now[y * SIDE + x] = heat(at(y, x), at(y ? y - 1 : y, x), at(y < SIDE - 1 ? y + 1 : y, x),
                                 at(y, x ? x - 1 : x), at(y, x < SIDE - 1 ? x + 1 : x),
                                 power[y * SIDE + x]);
      }
  return verdict(to_host(target, SIDE * SIDE) == now);
}
