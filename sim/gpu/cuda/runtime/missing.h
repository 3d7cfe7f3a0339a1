// What the library does not have.
#pragma once

#include "executor.h"

namespace racetrap {

// Says once on standard error, and to the executor, that `name` is not supported.
cudaError_t missing(const char *name);

}  // namespace racetrap
