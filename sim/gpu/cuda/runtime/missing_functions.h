// Functions of CUDA that the library lacks: each says so when it is called.
#pragma once

namespace racetrap {

int missing_function(const char *name, const void *from);

}  // namespace racetrap

#define RACETRAP_MISSING(name) \
  extern "C" int name() {        \
    return racetrap::missing_function(#name, __builtin_return_address(0)); \
  }
