// The device: one, as large as the executor says.

#include <cstring>
#include <string>

#include "missing.h"

using racetrap::note;

namespace {

constexpr int kVersion = CUDART_VERSION;

cudaError_t only_first(int device) {
  return note(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

int attribute_of(const cudaDeviceProp &device, cudaDeviceAttr attribute, bool &known) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return device.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX: return device.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY: return device.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ: return device.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX: return device.maxGridSize[0];
    case cudaDevAttrMaxGridDimY: return device.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ: return device.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(device.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory: return static_cast<int>(device.totalConstMem);
    case cudaDevAttrWarpSize: return device.warpSize;
    case cudaDevAttrMaxPitch: return static_cast<int>(device.memPitch);
    case cudaDevAttrMaxRegistersPerBlock: return device.regsPerBlock;
    case cudaDevAttrClockRate: return 1000000;
    case cudaDevAttrMemoryClockRate: return 1000000;
    case cudaDevAttrGlobalMemoryBusWidth: return device.memoryBusWidth;
    case cudaDevAttrL2CacheSize: return device.l2CacheSize;
    case cudaDevAttrMultiProcessorCount: return device.multiProcessorCount;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return device.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return device.maxBlocksPerMultiProcessor;
    case cudaDevAttrComputeCapabilityMajor: return device.major;
    case cudaDevAttrComputeCapabilityMinor: return device.minor;
    case cudaDevAttrConcurrentKernels: return device.concurrentKernels;
    case cudaDevAttrAsyncEngineCount: return device.asyncEngineCount;
    case cudaDevAttrCanMapHostMemory: return device.canMapHostMemory;
    case cudaDevAttrUnifiedAddressing: return device.unifiedAddressing;
    case cudaDevAttrManagedMemory: return device.managedMemory;
    case cudaDevAttrConcurrentManagedAccess: return device.concurrentManagedAccess;
    case cudaDevAttrClusterLaunch: return device.major >= 9;
    case cudaDevAttrCooperativeLaunch: return device.cooperativeLaunch;
    case cudaDevAttrMemoryPoolsSupported: return device.memoryPoolsSupported;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(device.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(device.sharedMemPerBlockOptin);
    case cudaDevAttrIntegrated:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrComputeMode:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPageableMemoryAccess:
      return 0;
    default:
      known = false;
      return 0;
  }
}

}  // namespace

// A function that gives what does not depend on anything.
#define GIVES(name, type, value)  \
  cudaError_t name(type *place) { \
    *place = value;               \
    return cudaSuccess;           \
  }

extern "C" {

GIVES(cudaGetDeviceCount, int, 1)

GIVES(cudaGetDevice, int, 0)

cudaError_t cudaSetDevice(int device) { return only_first(device); }

cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return only_first(device); }

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }

cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }

GIVES(cudaGetDeviceFlags, unsigned, cudaDeviceScheduleAuto)

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int number) {
  if (only_first(number) != cudaSuccess) return cudaErrorInvalidDevice;
  const racetrap::HelloReply &device = racetrap::device();
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "racetrap executor");
  properties->totalGlobalMem = device.end - device.base;
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = device.shared_per_sm;
  properties->sharedMemPerMultiprocessor = device.shared_per_sm;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 1 << 16;
  properties->warpSize = 32;
  properties->memPitch = 0x7fffffff;
  properties->maxThreadsPerBlock = 1024;
  for (int axis = 0; axis < 3; ++axis) {
    properties->maxThreadsDim[axis] = axis < 2 ? 1024 : 64;
    properties->maxGridSize[axis] = axis ? 65535 : 0x7fffffff;
  }
  properties->totalConstMem = 1 << 16;
  properties->major = static_cast<int>(device.capability / 10);
  properties->minor = static_cast<int>(device.capability % 10);
  properties->textureAlignment = properties->texturePitchAlignment = 512;
  properties->multiProcessorCount = static_cast<int>(device.sm_count);
  properties->maxThreadsPerMultiProcessor = static_cast<int>(32 * device.warps_per_sm);
  properties->maxBlocksPerMultiProcessor = static_cast<int>(device.blocks_per_sm);
  properties->memoryBusWidth = 256;
  properties->l2CacheSize = 1 << 20;
  properties->canMapHostMemory = properties->concurrentKernels = properties->unifiedAddressing = 1;
  properties->managedMemory = properties->concurrentManagedAccess = 1;
  properties->cooperativeLaunch = properties->memoryPoolsSupported = 1;
  properties->hostRegisterSupported = properties->asyncEngineCount = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int number) {
  cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, number);
  if (error != cudaSuccess) return error;
  bool known = true;
  *value = attribute_of(properties, attribute, known);
  if (known) return cudaSuccess;
  return racetrap::missing(("attribute " + std::to_string(attribute) + " of a device").c_str(), RACETRAP_FROM);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
  if (only_first(device) != cudaSuccess) return cudaErrorInvalidDevice;
  std::strncpy(text, "0000:00:00.0", static_cast<size_t>(bytes));
  return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }

GIVES(cudaDeviceGetCacheConfig, cudaFuncCache, cudaFuncCachePreferNone)

// The executor's limits do not depend on them.
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }

GIVES(cudaDriverGetVersion, int, kVersion)

GIVES(cudaRuntimeGetVersion, int, kVersion)

cudaError_t cudaProfilerStart() { return cudaSuccess; }

cudaError_t cudaProfilerStop() { return cudaSuccess; }

}
