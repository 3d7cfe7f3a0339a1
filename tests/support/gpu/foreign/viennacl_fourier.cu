// Fourier transforms of ViennaCL, by its kernels in shared and in global memory.
#define VIENNACL_WITH_CUDA
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include "viennacl/fft.hpp"
#include "viennacl/vector.hpp"

static int transform(int n) {
  std::vector<double> given(2 * n), found(2 * n);
  for (int i = 0; i < 2 * n; ++i) given[i] = i * 3 % 17 - 8;
  viennacl::vector<double> input(2 * n), output(2 * n);
  viennacl::copy(given, input);
  viennacl::fft(input, output);
  viennacl::copy(output, found);
  int wrong = 0;
  for (int k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (int i = 0; i < n; ++i)
      sum += std::complex<double>(given[2 * i], given[2 * i + 1]) *
             std::polar(1.0, -2 * M_PI * k * i / n);
    wrong += std::abs(sum - std::complex<double>(found[2 * k], found[2 * k + 1])) > 1e-6 * n;
  }
  return wrong;
}

int main() {
  const int wrong = transform(256) + transform(1024) + transform(60);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
