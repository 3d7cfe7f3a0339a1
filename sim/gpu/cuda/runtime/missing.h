// What the library does not have.
#pragma once

#include "executor.h"

namespace racetrap {

// Says once on standard error, and to the executor, that `name` is not supported; `site` is the
// place of the call, and `from` its return address.
cudaError_t missing(const char *name, uint32_t site);
cudaError_t missing(const char *name, const void *from);

}  // namespace racetrap
