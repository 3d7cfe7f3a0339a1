// Histogram: bins of a block in dynamic shared memory, added to those of the grid by atomics.
#include "program.cuh"

constexpr int BINS = 64;

__global__ void histogram(const unsigned char *input, int count, int *bins) {
  extern __shared__ int own[];
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
#ifdef RACY
    own[input[i] % BINS] += 1;
#else
    atomicAdd(&own[input[i] % BINS], 1);
#endif
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}

int main() {
  std::vector<unsigned char> input;
  std::vector<int> expected(BINS);
  for (int value : random_numbers(2000, 256)) {
    input.push_back(static_cast<unsigned char>(value));
    expected[value % BINS] += 1;
  }
  unsigned char *values = to_device(input);
  int *bins = zeros_on_device<int>(BINS);
  histogram<<<3, 96, BINS * sizeof(int)>>>(values, static_cast<int>(input.size()), bins);
  CHECK(cudaGetLastError());
  return verdict(to_host(bins, BINS) == expected);
}
