// Vector operations of ViennaCL: sums, products, norms, rotations and scans.
#define VIENNACL_WITH_CUDA
#include <cmath>
#include <cstdio>
#include <vector>

#include "viennacl/linalg/inner_prod.hpp"
#include "viennacl/linalg/norm_1.hpp"
#include "viennacl/linalg/norm_2.hpp"
#include "viennacl/linalg/norm_inf.hpp"
#include "viennacl/linalg/vector_operations.hpp"
#include "viennacl/vector.hpp"

int main() {
  const int n = 1000;
  std::vector<double> x(n), y(n), sums(n);
  for (int i = 0; i < n; ++i) {
    x[i] = i * 7 % 23;  // its scan carries sums from block to block as unsigned integers
    y[i] = (i * 5 % 19) - 9;
  }
  viennacl::vector<double> a(n), b(n), c(n);
  viennacl::copy(x, a);
  viennacl::copy(y, b);
  double dot = 0, one = 0, square = 0, most = 0, running = 0;
  for (int i = 0; i < n; ++i) {
    dot += x[i] * y[i];
    one += std::fabs(x[i]);
    square += x[i] * x[i];
    most = std::fmax(most, std::fabs(x[i]));
  }
  int wrong = 0;
  wrong += viennacl::linalg::inner_prod(a, b) != dot;
  wrong += viennacl::linalg::norm_1(a) != one;
  wrong += std::fabs(double(viennacl::linalg::norm_2(a)) - std::sqrt(square)) > 1e-9;
  wrong += viennacl::linalg::norm_inf(a) != most;
  c = 2.0 * a - b;
  viennacl::copy(c, sums);
  for (int i = 0; i < n; ++i) wrong += sums[i] != 2 * x[i] - y[i];
  viennacl::linalg::inclusive_scan(a, c);
  viennacl::copy(c, sums);
  for (int i = 0; i < n; ++i) wrong += sums[i] != (running += x[i]);
  viennacl::linalg::plane_rotation(a, b, 0.0, 1.0);
  viennacl::copy(a, sums);
  for (int i = 0; i < n; ++i) wrong += sums[i] != y[i];
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
