// Game of life on a torus of 16 by 16 cells, generations in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

#define EDGE 16

__global__ void live(unsigned char *cells, int generations) {
  __shared__ unsigned char now[EDGE][EDGE];
  const int x = threadIdx.x, y = threadIdx.y;
  now[y][x] = cells[y * EDGE + x];
  for (int g = 0; g < generations; ++g) {
    __syncthreads();
    int around = 0;
    for (int dy = EDGE - 1; dy <= EDGE + 1; ++dy)
      for (int dx = EDGE - 1; dx <= EDGE + 1; ++dx)
        around += now[(y + dy) % EDGE][(x + dx) % EDGE];
    const bool lives = around == 3 || (around == 4 && now[y][x]);
    now[y][x] = lives;
  }
  cells[y * EDGE + x] = now[y][x];
}

int main() {
  unsigned char *cells;
  cudaMallocManaged(&cells, EDGE * EDGE);
  for (int i = 0; i < EDGE * EDGE; ++i) cells[i] = 0;
  for (int x = 4; x < 7; ++x) cells[5 * EDGE + x] = 1;
  live<<<1, dim3(EDGE, EDGE)>>>(cells, 2);
  cudaDeviceSynchronize();
  int alive = 0;
  for (int i = 0; i < EDGE * EDGE; ++i) alive += cells[i];
  return printf("%d alive\n", alive), alive != 3;
}
