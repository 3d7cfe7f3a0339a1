// Compression of textures: a block of 64 threads has a square of 16 colours in shared memory.  Its
// first 16 threads sort them, all 64 try choices of end colours, and the least error is found by a
// tree, each without barriers, in lockstep.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `dxtc` of NVIDIA's samples.
#include "../../cuda/programs/program.cuh"

constexpr int COLOURS = 16, THREADS = 64, SQUARES = 4;

__global__ void compress(const int *image, int *found) {
  __shared__ int colour[COLOURS], sorted[COLOURS], sums[COLOURS], errors[THREADS], choice[THREADS];
  const int thread = threadIdx.x;
  if (thread < COLOURS) {
    colour[thread] = image[blockIdx.x * COLOURS + thread];
    int rank = 0;
    for (int i = 0; i < COLOURS; ++i)
      rank += colour[i] < colour[thread] || (colour[i] == colour[thread] && i < thread);
    sorted[rank] = colour[thread];
    sums[thread] = sorted[thread];
    for (int step = 1; step < COLOURS; step *= 2)
      if (thread >= step) sums[thread] += sums[thread - step];
  }
  const int middle = 1 + thread % (COLOURS - 1), low = sums[middle - 1] / middle;
  const int high = (sums[COLOURS - 1] - sums[middle - 1]) / (COLOURS - middle);
  int error = 0;
  for (int i = 0; i < COLOURS; ++i) error += abs(sorted[i] - (i < middle ? low : high));
  errors[thread] = error;
  choice[thread] = middle;
  for (int step = THREADS / 2; step > 0; step /= 2)
    if (thread < step && errors[thread + step] < errors[thread]) {
      errors[thread] = errors[thread + step];
      choice[thread] = choice[thread + step];
    }
  if (thread == 0) found[blockIdx.x] = choice[0];
}

int main() {
  const std::vector<int> image = random_numbers(SQUARES * COLOURS, 256);
  const int *colours = to_device(image);
  int *found = zeros_on_device<int>(SQUARES);
  compress<<<SQUARES, THREADS>>>(colours, found);
  bool right = true;
  // Which choice is found depends on the order of the warps.
  for (int choice : to_host(found, SQUARES)) right &= choice >= 0 && choice < COLOURS;
  return verdict(right);
}
