// Kernel launches.

#include <cstring>
#include <vector>

#include "graphs.h"
#include "kernels.h"
#include "missing.h"

namespace racetrap {
namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
  uint32_t site;
};

// Pushed by the code at `<<<...>>>`, popped by the function that stands for the kernel.
thread_local std::vector<Configuration> pushed;
thread_local uint32_t site_of_launch = 0;

// What a launch asks for by an attribute that it cannot have; null if it can.
const char *refused(const cudaLaunchAttribute &attribute) {
  switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      return nullptr;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent:
      return "programmatic dependent launch";
    case cudaLaunchAttributePreferredClusterDimension:
      return "preferred cluster of blocks";
    default:
      return "attribute of cudaLaunchKernelExC";
  }
}

// Words that name a kernel.
std::string of_kernel(const void *function) {
  Kernel *kernel = nullptr;
  return find_kernel(function, kernel) ? "" : " of kernel " + kernel->name;
}

// What a launch asks for beyond the shape of its grid.
struct Attributes {
  bool cooperative = false;
  dim3 cluster{0, 0, 0};

  unsigned cluster_blocks() const { return cluster.x * cluster.y * cluster.z; }
};

// Blocks of a cluster that every GPU with clusters can have.
constexpr unsigned portable_cluster = 8;

cudaError_t launch(const void *function, const dim3 &grid, const dim3 &block, void **arguments,
                   size_t shared_bytes, cudaStream_t handle, const Attributes &attributes,
                   uint32_t site) {
  Guard held = guard();
  Kernel *kernel = nullptr;
  cudaError_t error = find_kernel(function, kernel);
  uint32_t stream = 0;
  if (error == cudaSuccess) error = stream_of(handle, stream);
  if (error == cudaSuccess && shared_bytes > kernel->dynamic_limit) error = cudaErrorInvalidValue;
  if (error == cudaSuccess && attributes.cluster_blocks() > portable_cluster &&
      !kernel->may_have_large_clusters)
    error = cudaErrorInvalidClusterSize;
  if (error != cudaSuccess) return note(error);
  std::vector<char> bytes(kernel->facts.parameter_bytes);
  for (size_t number = 0; number < kernel->parameters.size(); ++number) {
    const ParameterReply &place = kernel->parameters[number];
    std::memcpy(bytes.data() + place.offset, arguments[number], place.bytes);
  }
  LaunchRequest request{kernel->facts.kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                        static_cast<uint32_t>(shared_bytes), stream, attributes.cooperative,
                        attributes.cluster.x, attributes.cluster.y, attributes.cluster.z, site};
  if (!is_captured(handle)) return note(tell(request, bytes.data(), bytes.size()));
  return keep(handle, [request, bytes](cudaStream_t own) mutable {
    cudaError_t error = stream_of(own, request.stream);
    return error ? error : tell(request, bytes.data(), bytes.size());
  });
}

}  // namespace
}  // namespace racetrap

using racetrap::launch;

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     cudaStream_t stream) {
  racetrap::pushed.push_back({grid, block, shared_bytes, stream, RACETRAP_SITE});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                       void *stream) {
  if (racetrap::pushed.empty()) return racetrap::note(cudaErrorInvalidConfiguration);
  const racetrap::Configuration &top = racetrap::pushed.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t *>(stream) = top.stream;
  racetrap::site_of_launch = top.site;
  racetrap::pushed.pop_back();
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, grid, block, arguments, shared_bytes, stream, {},
                racetrap::site_of_launch);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared_bytes, stream, {}, RACETRAP_SITE);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes,
                                        cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared_bytes, stream, {true}, RACETRAP_SITE);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *configuration, const void *function,
                                void **arguments) {
  racetrap::Attributes attributes;
  for (unsigned number = 0; number < configuration->numAttrs; ++number) {
    const cudaLaunchAttribute &attribute = configuration->attrs[number];
    if (attribute.id == cudaLaunchAttributeCooperative)
      attributes.cooperative = attribute.val.cooperative != 0;
    else if (attribute.id == cudaLaunchAttributeClusterDimension)
      attributes.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                            attribute.val.clusterDim.z};
    else if (const char *name = racetrap::refused(attribute))
      return racetrap::missing((name + racetrap::of_kernel(function)).c_str(), RACETRAP_FROM);
  }
  return launch(function, configuration->gridDim, configuration->blockDim, arguments,
                configuration->dynamicSmemBytes, configuration->stream, attributes, RACETRAP_SITE);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *data) {
  uint32_t stream;
  cudaError_t error = racetrap::stream_of(handle, stream);
  if (error) return racetrap::note(error);
  // All earlier work of the stream is done first.
  const auto call = [=](cudaStream_t) { return function(data), cudaSuccess; };
  return racetrap::is_captured(handle) ? racetrap::keep(handle, call) : call(handle);
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function, void *data,
                                  unsigned) {
  uint32_t stream;
  cudaError_t error = racetrap::stream_of(handle, stream);
  if (error == cudaSuccess) function(handle, cudaSuccess, data);
  return racetrap::note(error);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function) {
  racetrap::Kernel *kernel = nullptr;
  cudaError_t error = racetrap::find_kernel(function, kernel);
  if (error != cudaSuccess) return racetrap::note(error);
  *attributes = {};
  attributes->sharedSizeBytes = kernel->facts.shared_bytes;
  attributes->localSizeBytes = kernel->facts.local_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(kernel->facts.max_threads);
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion =
      static_cast<int>(racetrap::device().capability);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(kernel->dynamic_limit);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value) {
  racetrap::Kernel *kernel = nullptr;
  cudaError_t error = racetrap::find_kernel(function, kernel);
  if (error != cudaSuccess) return racetrap::note(error);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout ||
      attribute == cudaFuncAttributeClusterSchedulingPolicyPreference)
    return cudaSuccess;
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    kernel->may_have_large_clusters = value != 0;
    return cudaSuccess;
  }
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
    return racetrap::missing("attribute of cudaFuncSetAttribute", RACETRAP_FROM);
  if (value < 0 || value + kernel->facts.shared_bytes > racetrap::device().shared_per_sm)
    return racetrap::note(cudaErrorInvalidValue);
  kernel->dynamic_limit = static_cast<size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *function,
                                                                   int threads,
                                                                   size_t shared_bytes, unsigned) {
  racetrap::Kernel *kernel = nullptr;
  cudaError_t error = racetrap::find_kernel(function, kernel);
  if (error == cudaSuccess && threads <= 0) error = cudaErrorInvalidValue;
  if (error != cudaSuccess) return racetrap::note(error);
  const racetrap::HelloReply &device = racetrap::device();
  uint64_t most = device.blocks_per_sm, warps = (static_cast<uint64_t>(threads) + 31) / 32;
  most = std::min(most, device.warps_per_sm / warps);
  uint64_t shared = kernel->facts.shared_bytes + shared_bytes;
  if (shared) most = std::min(most, device.shared_per_sm / shared);
  *blocks = static_cast<uint32_t>(threads) <= kernel->facts.max_threads ? static_cast<int>(most) : 0;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                shared_bytes, 0);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function,
                                                 const cudaLaunchConfig_t *) {
  racetrap::Kernel *kernel = nullptr;
  cudaError_t error = racetrap::find_kernel(function, kernel);
  if (error == cudaSuccess)
    *blocks = (kernel->may_have_large_clusters ? 2 : 1) * racetrap::portable_cluster;
  return racetrap::note(error);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *configuration) {
  unsigned size = 1;
  for (unsigned number = 0; number < configuration->numAttrs; ++number) {
    const cudaLaunchAttribute &attribute = configuration->attrs[number];
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      size = attribute.val.clusterDim.x * attribute.val.clusterDim.y * attribute.val.clusterDim.z;
  }
  const dim3 &block = configuration->blockDim;
  cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      clusters, function, static_cast<int>(block.x * block.y * block.z),
      configuration->dynamicSmemBytes);
  if (error == cudaSuccess && !size) error = racetrap::note(cudaErrorInvalidClusterSize);
  if (error == cudaSuccess)
    *clusters = static_cast<int>(*clusters * racetrap::device().sm_count / size);
  return error;
}

}
