// Memory pools: names for allocations in stream order, with the attributes that programs set and
// read.  All memory is the executor's.

#include <map>

#include "memory.h"
#include "missing.h"

namespace racetrap {
namespace {

struct Pool {
  std::map<int, uint64_t> attributes;
};

// The pool of a device that has none of its own.
Pool *default_pool() {
  static auto *pool = new Pool{{{cudaMemPoolReuseFollowEventDependencies, 1},
                                {cudaMemPoolReuseAllowOpportunistic, 1},
                                {cudaMemPoolReuseAllowInternalDependencies, 1}}};
  return pool;
}

Pool *current = nullptr;

Pool *pool_of(cudaMemPool_t handle) { return reinterpret_cast<Pool *>(handle); }
cudaMemPool_t handle_of(Pool *pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

bool is_number(cudaMemPoolAttr attribute) { return attribute >= cudaMemPoolAttrReleaseThreshold; }

// Whether an attribute counts bytes of allocations.
bool is_count(cudaMemPoolAttr attribute) { return attribute > cudaMemPoolAttrReleaseThreshold; }

cudaError_t give_device_pool(cudaMemPool_t *handle, Pool *pool, int device) {
  if (device) return note(cudaErrorInvalidDevice);
  *handle = handle_of(pool);
  return cudaSuccess;
}

}  // namespace
}  // namespace racetrap

using namespace racetrap;

extern "C" {

cudaError_t cudaMemPoolCreate(cudaMemPool_t *handle, const cudaMemPoolProps *properties) {
  if (properties->allocType != cudaMemAllocationTypePinned ||
      properties->location.type != cudaMemLocationTypeDevice || properties->location.id)
    return note(cudaErrorInvalidValue);
  if (properties->handleTypes != cudaMemHandleTypeNone)
    return missing("cudaMemPoolCreate for other processes", RACETRAP_FROM);
  *handle = handle_of(new Pool(*default_pool()));
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  Pool *pool = pool_of(handle);
  if (!pool || pool == default_pool()) return note(cudaErrorInvalidValue);
  Guard held = guard();
  if (current == pool) current = nullptr;
  delete pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void *value) {
  if (is_count(attribute)) return missing("attribute of cudaMemPoolSetAttribute", RACETRAP_FROM);
  Guard held = guard();
  pool_of(handle)->attributes[attribute] = is_number(attribute)
      ? *static_cast<uint64_t *>(value) : static_cast<uint64_t>(*static_cast<int *>(value));
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void *value) {
  if (is_count(attribute)) return missing("attribute of cudaMemPoolGetAttribute", RACETRAP_FROM);
  Guard held = guard();
  uint64_t found = pool_of(handle)->attributes[attribute];
  if (is_number(attribute)) *static_cast<uint64_t *>(value) = found;
  else *static_cast<int *>(value) = static_cast<int>(found);
  return cudaSuccess;
}

// Nothing is kept back, so there is nothing to trim.
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *handle, int device) {
  return give_device_pool(handle, default_pool(), device);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *handle, int device) {
  return give_device_pool(handle, current ? current : default_pool(), device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  if (device || !handle) return note(cudaErrorInvalidValue);
  Guard held = guard();
  current = pool_of(handle);
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t handle,
                                    cudaStream_t stream) {
  if (!handle) return note(cudaErrorInvalidValue);
  return allocate_in_stream(pointer, bytes, stream, RACETRAP_FROM);
}

}
