// Errors: the last one of each thread, and their names.

#include "executor.h"

namespace {

thread_local cudaError_t last = cudaSuccess;

// After these the program's context is lost: every later call gives the same.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

struct Name {
  int error;
  const char *name, *sentence;
};

// All errors, as NVIDIA's library names them.
constexpr Name names[] = {
#include "error_names.h"
};

const Name *find(cudaError_t error) {
  for (const Name &name : names)
    if (name.error == error) return &name;
  return nullptr;
}

}  // namespace

cudaError_t racetrap::note(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

extern "C" {

cudaError_t cudaGetLastError() {
  cudaError_t error = last;
  if (!is_sticky(error)) last = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last; }

const char *cudaGetErrorName(cudaError_t error) {
  const Name *name = find(error);
  return name ? name->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
  const Name *name = find(error);
  return name ? name->sentence : "unrecognized error code";
}

}
