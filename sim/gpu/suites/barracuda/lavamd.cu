// Particles in boxes: a block has a box, and takes each neighbour's particles into shared memory.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Lavamd` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int BOXES = 6, EACH = 64, THREADS = 64;

__host__ __device__ inline int force(int own, int other) { return (own - other) * (other & 3); }

__global__ void forces(const int *position, int *total) {
  __shared__ int own[EACH], others[EACH];
  const int thread = threadIdx.x, box = blockIdx.x;
  own[thread] = position[box * EACH + thread];
  __syncthreads();
  for (int next = max(box - 1, 0); next <= min(box + 1, BOXES - 1); ++next) {
    others[thread] = position[next * EACH + thread];
    __syncthreads();
    for (int i = 0; i < EACH; ++i) total[box * EACH + thread] += force(own[thread], others[i]);
    __syncthreads();
  }
}

int main() {
  const std::vector<int> positions = random_numbers(BOXES * EACH, 100);
  std::vector<int> expected(BOXES * EACH);
  for (int i = 0; i < BOXES * EACH; ++i)
    for (int j = 0; j < BOXES * EACH; ++j)
      if (std::abs(i / EACH - j / EACH) <= 1) expected[i] += force(positions[i], positions[j]);
  const int *position = to_device(positions);
  int *total = zeros_on_device<int>(BOXES * EACH);
  forces<<<BOXES, THREADS>>>(position, total);
  return verdict(to_host(total, BOXES * EACH) == expected);
}
