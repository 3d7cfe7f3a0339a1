// Conjugate gradients of ViennaCL on a sparse matrix: the Laplacian of a square.
#define VIENNACL_WITH_CUDA
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "viennacl/compressed_matrix.hpp"
#include "viennacl/linalg/cg.hpp"
#include "viennacl/linalg/prod.hpp"
#include "viennacl/vector.hpp"

int main() {
  const int side = 12, n = side * side;
  std::vector<std::map<unsigned, double>> laplacian(n);
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const int at = i * side + j;
      laplacian[at][at] = 4;
      if (i) laplacian[at][at - side] = -1;
      if (j) laplacian[at][at - 1] = -1;
      if (i + 1 < side) laplacian[at][at + side] = -1;
      if (j + 1 < side) laplacian[at][at + 1] = -1;
    }
  std::vector<double> wanted(n), right(n), found(n);
  for (int i = 0; i < n; ++i) wanted[i] = i % 5 - 2;
  for (int i = 0; i < n; ++i)
    for (const auto &entry : laplacian[i]) right[i] += entry.second * wanted[entry.first];
  viennacl::compressed_matrix<double> a(n, n);
  viennacl::vector<double> b(n), x(n);
  viennacl::copy(laplacian, a);
  viennacl::copy(right, b);
  viennacl::linalg::cg_tag tag(1e-9, 100);
  x = viennacl::linalg::solve(a, b, tag);
  viennacl::copy(x, found);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += std::fabs(found[i] - wanted[i]) > 1e-6;
  std::printf("%d wrong, after %u iterations\n", wrong, tag.iters());
  return wrong != 0;
}
