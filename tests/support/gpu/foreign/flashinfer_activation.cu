// Gated activation of FlashInfer: one half of each row, activated, times the other half.
#include <cmath>
#include <cstdio>
#include <vector>

#include "flashinfer/activation.cuh"

__device__ __forceinline__ float silu(const float &x) { return x / (1.0f + __expf(-x)); }

int main() {
  const int rows = 6, width = 256;
  std::vector<half> given(2 * rows * width), found(rows * width);
  for (int i = 0; i < 2 * rows * width; ++i) given[i] = __float2half((i * 7 % 101 - 50) / 8.f);
  half *input, *output;
  cudaMalloc(&input, 2 * rows * width * sizeof(half));
  cudaMalloc(&output, rows * width * sizeof(half));
  cudaMemcpy(input, given.data(), 2 * rows * width * sizeof(half), cudaMemcpyHostToDevice);
  flashinfer::activation::act_and_mul_kernel<half, silu, 8><<<rows, 64>>>(output, input, width);
  cudaMemcpy(found.data(), output, rows * width * sizeof(half), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < width; ++i) {
      const double x = __half2float(given[2 * r * width + i]);
      const double wanted = x / (1 + std::exp(-x)) * __half2float(given[(2 * r + 1) * width + i]);
      wrong += std::fabs(__half2float(found[r * width + i]) - wanted) > 2e-3 * (1 + std::fabs(wanted));
    }
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
