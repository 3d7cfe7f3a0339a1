// 1DC of ScoR as a whole program: kernels of the workload, host code of its own.
#include "../../workloads/convolution_1d.cu"
#include "program.cuh"

#ifdef RACY
constexpr unsigned SWITCHES = BLOCK_SCOPE_BORDER;
#else
constexpr unsigned SWITCHES = 0;
#endif

int main() {
  constexpr int BLOCKS = 4, THREADS = 64, OUTPUTS = 300, TAPS = 9;
  const std::vector<int> numbers = random_numbers(OUTPUTS + TAPS, 16);
  const std::vector<float> input(numbers.begin(), numbers.begin() + OUTPUTS);
  const std::vector<float> filter(numbers.begin() + OUTPUTS, numbers.end());
  std::vector<float> expected(OUTPUTS);
  for (int o = 0; o < OUTPUTS; ++o) {
    for (int tap = 0; tap < TAPS; ++tap) {
      const int i = o - (tap - TAPS / 2);
      if (i >= 0 && i < OUTPUTS) expected[o] += input[i] * filter[tap];
    }
  }
  float *output;
  CHECK(cudaMalloc(&output, OUTPUTS * sizeof(float)));
  clear<<<BLOCKS, THREADS>>>(output, OUTPUTS);
  convolve<<<BLOCKS, THREADS>>>(to_device(input), to_device(filter), output, OUTPUTS, TAPS,
                                SWITCHES);
  CHECK(cudaGetLastError());
  return verdict(to_host(output, OUTPUTS) == expected);
}
