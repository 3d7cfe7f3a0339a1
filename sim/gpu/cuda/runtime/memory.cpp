// Memory: allocated by the executor; pinned and managed memory is opened to the program, too.

#include <map>

#include "graphs.h"
#include "memory.h"
#include "missing.h"

namespace racetrap {
namespace {

constexpr size_t kPitch = 512;

struct Allocation {
  size_t bytes;
  AllocationKind kind;
};

std::map<uint64_t, Allocation> &allocations() {
  static auto *held = new std::map<uint64_t, Allocation>;
  return *held;
}

// Host memory that the program has registered: bytes by address.
std::map<uint64_t, size_t> &registered() {
  static auto *ranges = new std::map<uint64_t, size_t>;
  return *ranges;
}

size_t used = 0;

uint64_t number_of(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

template <class Map>
auto containing(Map &ranges, uint64_t address) {
  auto next = ranges.upper_bound(address);
  return next == ranges.begin() ? ranges.end() : std::prev(next);
}

// `from` is the return address of the call.
cudaError_t allocate(void **pointer, size_t bytes, AllocationKind kind, const void *from) {
  *pointer = nullptr;
  if (!bytes) return cudaSuccess;
  Guard held = guard();
  AllocateReply reply;
  const void *caller = caller_of(from), *outer = caller ? caller_of(caller) : nullptr;
  cudaError_t error = ask(AllocateRequest{bytes, static_cast<uint32_t>(kind), site_of(from),
                                          caller ? site_of(caller) : 0, outer ? site_of(outer) : 0},
                          reply);
  if (error == cudaSuccess && kind != AllocationKind::DEVICE)
    error = open_to_host(reply.address, bytes);
  if (error != cudaSuccess) return note(error);
  allocations()[reply.address] = {bytes, kind};
  used += bytes;
  *pointer = reinterpret_cast<void *>(reply.address);
  return cudaSuccess;
}

// Forgets an allocation; false if there is none of the kind.
bool forget(const void *pointer, bool host) {
  auto found = allocations().find(number_of(pointer));
  if (found == allocations().end()) return false;
  auto [bytes, kind] = found->second;
  if ((kind == AllocationKind::PINNED) != host) return false;
  if (kind != AllocationKind::DEVICE) close_to_host(found->first, bytes);
  used -= bytes;
  allocations().erase(found);
  return true;
}

size_t pitch_of(size_t width) { return (width + kPitch - 1) / kPitch * kPitch; }

cudaError_t release(void *pointer, bool host) {
  Guard held = guard();
  if (!pointer) return note(tell(SynchronizeRequest{static_cast<uint32_t>(SynchronizeKind::ALL), 0}));
  if (!forget(pointer, host)) return note(cudaErrorInvalidValue);
  return note(tell(FreeRequest{number_of(pointer)}));
}

}  // namespace

bool is_registered(const void *pointer) {
  Guard held = guard();
  uint64_t address = number_of(pointer);
  auto range = containing(registered(), address);
  return range != registered().end() && address - range->first < range->second;
}

cudaError_t allocate_in_stream(void **pointer, size_t bytes, cudaStream_t handle, const void *from) {
  uint32_t stream;
  cudaError_t error = stream_of(handle, stream);
  if (error) return note(error);
  if (is_captured(handle)) return missing("cudaMallocAsync in a stream that is captured", from);
  return allocate(pointer, bytes, AllocationKind::DEVICE, from);
}

}  // namespace racetrap

using racetrap::AllocationKind;
using racetrap::guard;
using racetrap::note;
using racetrap::number_of;

extern "C" {

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  return racetrap::allocate(pointer, bytes, AllocationKind::DEVICE, RACETRAP_FROM);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  *pitch = racetrap::pitch_of(width);
  return racetrap::allocate(pointer, *pitch * height, AllocationKind::DEVICE, RACETRAP_FROM);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *pitched, cudaExtent extent) {
  size_t pitch = racetrap::pitch_of(extent.width);
  *pitched = {nullptr, pitch, extent.width, extent.height};
  return racetrap::allocate(&pitched->ptr, pitch * extent.height * extent.depth,
                            AllocationKind::DEVICE, RACETRAP_FROM);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned) {
  return racetrap::allocate(pointer, bytes, AllocationKind::MANAGED, RACETRAP_FROM);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned) {
  return racetrap::allocate(pointer, bytes, AllocationKind::PINNED, RACETRAP_FROM);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return racetrap::allocate(pointer, bytes, AllocationKind::PINNED, RACETRAP_FROM);
}

cudaError_t cudaFree(void *pointer) { return racetrap::release(pointer, false); }

cudaError_t cudaFreeHost(void *pointer) { return racetrap::release(pointer, true); }

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t handle) {
  return racetrap::allocate_in_stream(pointer, bytes, handle, RACETRAP_FROM);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t handle) {
  uint32_t stream;
  cudaError_t error = racetrap::stream_of(handle, stream);
  if (error != cudaSuccess || !pointer) return note(error);
  if (racetrap::is_captured(handle))
    return racetrap::missing("cudaFreeAsync in a stream that is captured", RACETRAP_FROM);
  racetrap::Guard held = guard();
  uint32_t site = RACETRAP_SITE;
  if (!racetrap::forget(pointer, false)) return note(cudaErrorInvalidValue);
  return note(racetrap::tell(racetrap::FreeInStreamRequest{number_of(pointer), stream, site}));
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  const racetrap::HelloReply &device = racetrap::device();
  racetrap::Guard held = guard();
  *total = device.end - device.base;
  *free = *total - racetrap::used;
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned) {
  racetrap::Guard held = guard();
  bool added = racetrap::registered().insert({number_of(pointer), bytes}).second;
  return note(added ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}

cudaError_t cudaHostUnregister(void *pointer) {
  racetrap::Guard held = guard();
  bool erased = racetrap::registered().erase(number_of(pointer)) > 0;
  return note(erased ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned) {
  racetrap::Guard held = guard();
  auto found = racetrap::containing(racetrap::allocations(), number_of(host));
  bool inside = found != racetrap::allocations().end() &&
                number_of(host) - found->first < found->second.bytes;
  *pointer = inside ? host : nullptr;
  return inside ? cudaSuccess
                : racetrap::missing("cudaHostGetDevicePointer of registered memory", RACETRAP_FROM);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *) {
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
  racetrap::Guard held = guard();
  *attributes = {};
  attributes->device = -1;
  auto *own = const_cast<void *>(pointer);
  uint64_t address = number_of(pointer);
  auto found = racetrap::containing(racetrap::allocations(), address);
  if (found != racetrap::allocations().end() && address - found->first < found->second.bytes) {
    constexpr cudaMemoryType types[] = {cudaMemoryTypeDevice, cudaMemoryTypeHost,
                                        cudaMemoryTypeManaged};
    AllocationKind kind = found->second.kind;
    attributes->type = types[static_cast<uint32_t>(kind)];
    attributes->device = 0;
    attributes->devicePointer = own;
    attributes->hostPointer = kind == AllocationKind::DEVICE ? nullptr : own;
    return cudaSuccess;
  }
  bool inside = racetrap::is_registered(pointer);
  attributes->type = inside ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  attributes->hostPointer = inside ? own : nullptr;
  return cudaSuccess;
}

// Hints: where memory lies has no effect on results.
cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t, unsigned) { return cudaSuccess; }

cudaError_t cudaDeviceReset() {
  racetrap::Guard held = guard();
  while (!racetrap::allocations().empty()) {
    auto [address, allocation] = *racetrap::allocations().begin();
    racetrap::forget(reinterpret_cast<void *>(address), allocation.kind == AllocationKind::PINNED);
  }
  return note(racetrap::tell(racetrap::ResetRequest{}));
}

}
