// Copies and fills: the executor checks them and says which ends are device memory, then the
// bytes are moved here.

#include <cstring>

#include "graphs.h"
#include "kernels.h"
#include "memory.h"
#include "missing.h"

namespace racetrap {
namespace {

struct Rows {
  void *target;
  size_t target_pitch;
  const void *source;
  size_t source_pitch, width, height;
};

uint64_t number_of(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

char *end_of(const void *pointer, uint32_t in_file) {
  return static_cast<char *>(in_file ? in_window(number_of(pointer))
                                       : const_cast<void *>(pointer));
}

cudaError_t copy(const Rows &rows, cudaMemcpyKind direction, cudaStream_t handle, bool asynchronous,
                 uint32_t site) {
  if (!rows.width || !rows.height) return cudaSuccess;
  if (asynchronous && is_captured(handle))
    return keep(handle, [=](cudaStream_t stream) { return copy(rows, direction, stream, true, site); });
  if (rows.height > 1 && (rows.width > rows.target_pitch || rows.width > rows.source_pitch))
    return note(cudaErrorInvalidPitchValue);
  Guard held = guard();
  uint32_t stream;
  cudaError_t error = stream_of(handle, stream);
  CopyReply reply;
  CopyRequest request{number_of(rows.target), rows.target_pitch, number_of(rows.source),
                      rows.source_pitch, rows.width, rows.height,
                      static_cast<uint32_t>(direction), stream, asynchronous,
                      is_registered(rows.target) || is_registered(rows.source), site};
  if (error == cudaSuccess) error = ask(request, reply);
  if (error != cudaSuccess) return note(error);
  char *target = end_of(rows.target, reply.target_in_file);
  const char *source = end_of(rows.source, reply.source_in_file);
  for (size_t row = 0; row < rows.height; ++row)
    std::memmove(target + row * rows.target_pitch, source + row * rows.source_pitch, rows.width);
  return cudaSuccess;
}

cudaError_t copy(void *target, const void *source, size_t bytes, cudaMemcpyKind direction,
                 cudaStream_t stream, bool asynchronous, uint32_t site) {
  return copy({target, bytes, source, bytes, bytes, 1}, direction, stream, asynchronous, site);
}

cudaError_t fill(void *target, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t handle, bool asynchronous, uint32_t site) {
  if (!width || !height) return cudaSuccess;
  if (asynchronous && is_captured(handle))
    return keep(handle, [=](cudaStream_t stream) {
      return fill(target, pitch, value, width, height, stream, true, site);
    });
  if (height > 1 && width > pitch) return note(cudaErrorInvalidPitchValue);
  Guard held = guard();
  uint32_t stream;
  cudaError_t error = stream_of(handle, stream);
  FillRequest request{number_of(target), pitch, width, height, stream, asynchronous, site};
  if (error == cudaSuccess) error = tell(request);
  if (error != cudaSuccess) return note(error);
  for (size_t row = 0; row < height; ++row)
    std::memset(in_window(number_of(target) + row * pitch), value, width);
  return cudaSuccess;
}

// Place in the variable behind a symbol.
cudaError_t in_symbol(const void *symbol, size_t bytes, size_t offset, void *&place) {
  FindSymbolReply found{};
  cudaError_t error = find_symbol(symbol, found);
  if (error == cudaSuccess && (offset > found.bytes || bytes > found.bytes - offset))
    error = cudaErrorInvalidValue;
  place = reinterpret_cast<void *>(found.address + offset);
  return error;
}

cudaError_t to_symbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                      cudaMemcpyKind direction, cudaStream_t stream, bool asynchronous,
                      uint32_t site) {
  void *target;
  cudaError_t error = in_symbol(symbol, bytes, offset, target);
  return error ? note(error) : copy(target, source, bytes, direction, stream, asynchronous, site);
}

cudaError_t from_symbol(void *target, const void *symbol, size_t bytes, size_t offset,
                        cudaMemcpyKind direction, cudaStream_t stream, bool asynchronous,
                        uint32_t site) {
  void *source;
  cudaError_t error = in_symbol(symbol, bytes, offset, source);
  return error ? note(error) : copy(target, source, bytes, direction, stream, asynchronous, site);
}

size_t start_of(const cudaPitchedPtr &pitched, const cudaPos &position, size_t slice) {
  return ((position.z + slice) * pitched.ysize + position.y) * pitched.pitch + position.x;
}

cudaError_t copy_box(const cudaMemcpy3DParms &box, cudaStream_t stream, bool asynchronous,
                     uint32_t site) {
  if (box.srcArray || box.dstArray) return missing("cudaMemcpy3D of an array", site);
  for (size_t slice = 0; slice < box.extent.depth; ++slice) {
    Rows rows{static_cast<char *>(box.dstPtr.ptr) + start_of(box.dstPtr, box.dstPos, slice),
              box.dstPtr.pitch,
              static_cast<const char *>(box.srcPtr.ptr) + start_of(box.srcPtr, box.srcPos, slice),
              box.srcPtr.pitch, box.extent.width, box.extent.height};
    cudaError_t error = copy(rows, box.kind, stream, asynchronous, site);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace racetrap

using namespace racetrap;

// A function in both its forms: for the legacy default stream, and for a stream that is named.
#define BOTH_FORMS(name, call, ...)                            \
  cudaError_t name(__VA_ARGS__) {                              \
    constexpr cudaStream_t stream = nullptr;                   \
    constexpr bool asynchronous = false;                       \
    return call;                                               \
  }                                                            \
  cudaError_t name##Async(__VA_ARGS__, cudaStream_t stream) {  \
    constexpr bool asynchronous = true;                        \
    return call;                                               \
  }

extern "C" {

BOTH_FORMS(cudaMemcpy, copy(target, source, bytes, direction, stream, asynchronous, RACETRAP_SITE),
           void *target, const void *source, size_t bytes, cudaMemcpyKind direction)
BOTH_FORMS(cudaMemcpyPeer,
           copy(target, source, bytes, cudaMemcpyDeviceToDevice, stream, asynchronous,
                RACETRAP_SITE),
           void *target, int, const void *source, int, size_t bytes)
BOTH_FORMS(cudaMemcpy2D,
           copy({target, target_pitch, source, source_pitch, width, height}, direction, stream,
                asynchronous, RACETRAP_SITE),
           void *target, size_t target_pitch, const void *source, size_t source_pitch,
           size_t width, size_t height, cudaMemcpyKind direction)
BOTH_FORMS(cudaMemcpy3D, copy_box(*box, stream, asynchronous, RACETRAP_SITE),
           const cudaMemcpy3DParms *box)
BOTH_FORMS(cudaMemcpyToSymbol,
           to_symbol(symbol, source, bytes, offset, direction, stream, asynchronous,
                     RACETRAP_SITE),
           const void *symbol, const void *source, size_t bytes, size_t offset,
           cudaMemcpyKind direction)
BOTH_FORMS(cudaMemcpyFromSymbol,
           from_symbol(target, symbol, bytes, offset, direction, stream, asynchronous,
                       RACETRAP_SITE),
           void *target, const void *symbol, size_t bytes, size_t offset,
           cudaMemcpyKind direction)
BOTH_FORMS(cudaMemset, fill(target, bytes, value, bytes, 1, stream, asynchronous, RACETRAP_SITE),
           void *target, int value, size_t bytes)
BOTH_FORMS(cudaMemset2D,
           fill(target, pitch, value, width, height, stream, asynchronous, RACETRAP_SITE),
           void *target, size_t pitch, int value, size_t width, size_t height)

}
