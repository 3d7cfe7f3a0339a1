// Jacobi iteration of Laplace's equation on a line, in one cooperative launch.
#include <cooperative_groups.h>

#include "program.cuh"

__global__ void iterate(float *cells, float *next, int count, int rounds) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    if (i > 0 && i < count - 1) next[i] = 0.5f * (cells[i - 1] + cells[i + 1]);
#ifndef RACY
    grid.sync();
#endif
    float *swapped = cells;
    cells = next;
    next = swapped;
  }
}

int main() {
  constexpr int COUNT = 256;
  int rounds = 4;
  std::vector<float> cells(COUNT), next;
  cells.front() = 1;
  float *memory = to_device(cells), *other = to_device(cells);
  for (int round = 0; round < rounds; ++round) {
    next = cells;
    for (int i = 1; i < COUNT - 1; ++i) next[i] = 0.5f * (cells[i - 1] + cells[i + 1]);
    cells = next;
  }
  int count = COUNT;
  void *arguments[] = {&memory, &other, &count, &rounds};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(iterate), dim3(4), dim3(COUNT / 4),
                                    arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  return verdict(to_host(memory, COUNT) == cells);
}
