// Two kernels of a neural net's training: products summed by a tree in shared memory, and weights
// that each have a thread.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Backprop` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int SIDE = 16, INPUTS = 256;

__global__ void forward(const int *input, int *weights, int *partial) {
  __shared__ int node[SIDE];
  __shared__ int product[SIDE][SIDE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int weight = (blockIdx.x * SIDE + y) * SIDE + x;
  if (x == 0) node[y] = input[blockIdx.x * SIDE + y];
  __syncthreads();
  product[y][x] = weights[weight];
  __syncthreads();
  product[y][x] *= node[y];
  __syncthreads();
  for (int step = 1; step < SIDE; step *= 2) {
    if (y % (2 * step) == 0) product[y][x] += product[y + step][x];
    __syncthreads();
  }
  weights[weight] = product[y][x];
  __syncthreads();
  if (y == 0) partial[blockIdx.x * SIDE + x] = product[0][x];
}

__global__ void adjust(const int *delta, const int *input, int *weights, int *old) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int weight = (blockIdx.x * SIDE + y) * SIDE + x;
  const int change = delta[x] * input[blockIdx.x * SIDE + y] + 3 * old[weight];
  weights[weight] += change;
  old[weight] = change;
}

int main() {
  const std::vector<int> input = random_numbers(INPUTS, 10), weights = random_numbers(INPUTS * SIDE, 7);
  const std::vector<int> delta = random_numbers(SIDE, 5);
  const int *inputs = to_device(input), *deltas = to_device(delta);
  int *weight = to_device(weights), *old = zeros_on_device<int>(INPUTS * SIDE);
  int *partial = zeros_on_device<int>(INPUTS);
  forward<<<INPUTS / SIDE, dim3(SIDE, SIDE)>>>(inputs, weight, partial);
  adjust<<<INPUTS / SIDE, dim3(SIDE, SIDE)>>>(deltas, inputs, weight, old);
  std::vector<int> expected(INPUTS);
  for (int i = 0; i < INPUTS; ++i)
    for (int x = 0; x < SIDE; ++x) expected[i / SIDE * SIDE + x] += input[i] * weights[i * SIDE + x];
  return verdict(to_host(partial, INPUTS) == expected);
}
