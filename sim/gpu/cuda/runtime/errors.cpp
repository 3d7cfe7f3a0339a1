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
  cudaError_t error;
  const char *name, *sentence;
};

#define ERROR(error, sentence) {error, #error, sentence}
constexpr Name names[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered,
          "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered,
          "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
};
#undef ERROR

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
