// Kernels and variables that the program has registered.
#pragma once

#include <string>
#include <vector>

#include "executor.h"

namespace racetrap {

struct Kernel {
  void **module;
  std::string name;
  bool found = false;
  FindKernelReply facts{};
  std::vector<ParameterReply> parameters{};
  size_t dynamic_limit = 0;
  bool may_have_large_clusters = false;
};

// The kernel of a host function, looked up at the executor; null if it is none.
cudaError_t find_kernel(const void *function, Kernel *&kernel);

// Address and bytes of the variable that stands for a symbol.
cudaError_t find_symbol(const void *symbol, FindSymbolReply &place);

// Bytes of dynamic shared memory that a block has without asking for more.
constexpr size_t shared_bytes_of_block = 48 << 10;

}  // namespace racetrap
