// Streams and events: a handle is the executor's number with an offset.

#include <chrono>
#include <map>

#include "graphs.h"
#include "missing.h"

namespace racetrap {
namespace {

// Above the handles that CUDA predefines.
constexpr uintptr_t kFirst = 0x100;
using Clock = std::chrono::steady_clock;

std::map<uint32_t, Clock::time_point> &times() {
  static auto *recorded = new std::map<uint32_t, Clock::time_point>;
  return *recorded;
}

template <class Handle>
Handle handle_of(uint32_t number) {
  return reinterpret_cast<Handle>(kFirst + number);
}

template <class Handle>
bool number_of(Handle handle, uint32_t &number) {
  auto value = reinterpret_cast<uintptr_t>(handle);
  number = static_cast<uint32_t>(value - kFirst);
  return value >= kFirst && value - kFirst <= UINT32_MAX;
}

cudaError_t create(cudaStream_t *handle, unsigned flags) {
  CreateStreamReply reply;
  if (flags & ~cudaStreamNonBlocking) return note(cudaErrorInvalidValue);
  cudaError_t error = ask(CreateStreamRequest{flags & cudaStreamNonBlocking}, reply);
  if (error == cudaSuccess) *handle = handle_of<cudaStream_t>(reply.stream);
  return note(error);
}

cudaError_t wait_for(SynchronizeKind kind, uint32_t number) {
  return note(tell(SynchronizeRequest{static_cast<uint32_t>(kind), number}));
}

cudaError_t wait_for(cudaStream_t handle) {
  uint32_t stream;
  cudaError_t error = stream_of(handle, stream);
  if (!error && is_captured(handle)) error = cudaErrorStreamCaptureUnsupported;
  return error ? note(error) : wait_for(SynchronizeKind::STREAM, stream);
}

cudaError_t wait_for(cudaEvent_t handle) {
  uint32_t event;
  if (!number_of(handle, event)) return note(cudaErrorInvalidResourceHandle);
  return wait_for(SynchronizeKind::EVENT, event);
}

}  // namespace

cudaError_t stream_of(cudaStream_t handle, uint32_t &stream) {
  thread_local cudaStream_t of_thread = nullptr;
  stream = 0;
  if (handle == nullptr || handle == cudaStreamLegacy) return cudaSuccess;
  if (handle == cudaStreamPerThread) {
    cudaError_t error = of_thread ? cudaSuccess : create(&of_thread, cudaStreamDefault);
    if (error != cudaSuccess) return error;
    handle = of_thread;
  }
  return number_of(handle, stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

}  // namespace racetrap

using racetrap::note;
using racetrap::number_of;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return racetrap::create(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return racetrap::create(stream, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
  return racetrap::create(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  uint32_t stream;
  if (!number_of(handle, stream)) return note(cudaErrorInvalidResourceHandle);
  return note(racetrap::tell(racetrap::DestroyStreamRequest{stream}));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return racetrap::wait_for(stream); }

// Queued work is done first, so a query never finds a stream busy.
cudaError_t cudaStreamQuery(cudaStream_t stream) { return racetrap::wait_for(stream); }

cudaError_t cudaDeviceSynchronize() { return racetrap::wait_for(racetrap::SynchronizeKind::ALL, 0); }

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  uint32_t stream, event;
  cudaError_t error = racetrap::stream_of(handle, stream);
  if (error == cudaSuccess && !number_of(event_handle, event))
    error = cudaErrorInvalidResourceHandle;
  if (!error && racetrap::keep_wait(handle, event_handle)) return cudaSuccess;
  return note(error ? error : racetrap::tell(racetrap::WaitEventRequest{stream, event}));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *handle, unsigned) {
  racetrap::CreateEventReply reply;
  cudaError_t error = racetrap::ask(racetrap::CreateEventRequest{}, reply);
  if (error == cudaSuccess) *handle = racetrap::handle_of<cudaEvent_t>(reply.event);
  return note(error);
}

cudaError_t cudaEventCreate(cudaEvent_t *handle) { return cudaEventCreateWithFlags(handle, 0); }

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  uint32_t stream, event;
  cudaError_t error = racetrap::stream_of(stream_handle, stream);
  if (error == cudaSuccess && !number_of(handle, event)) error = cudaErrorInvalidResourceHandle;
  if (!error && racetrap::keep_record(handle, stream_handle)) return cudaSuccess;
  if (error == cudaSuccess) error = racetrap::tell(racetrap::RecordEventRequest{event, stream});
  racetrap::Guard held = racetrap::guard();
  if (error == cudaSuccess) racetrap::times()[event] = racetrap::Clock::now();
  return note(error);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return racetrap::wait_for(event); }

cudaError_t cudaEventQuery(cudaEvent_t event) { return racetrap::wait_for(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  uint32_t numbers[2];
  if (!number_of(start, numbers[0]) || !number_of(end, numbers[1]))
    return note(cudaErrorInvalidResourceHandle);
  racetrap::Guard held = racetrap::guard();
  auto first = racetrap::times().find(numbers[0]), last = racetrap::times().find(numbers[1]);
  if (first == racetrap::times().end() || last == racetrap::times().end())
    return note(cudaErrorInvalidResourceHandle);
  std::chrono::duration<float, std::milli> between = last->second - first->second;
  *milliseconds = between.count();
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  uint32_t event;
  if (!number_of(handle, event)) return note(cudaErrorInvalidResourceHandle);
  racetrap::Guard held = racetrap::guard();
  racetrap::times().erase(event);
  return note(racetrap::tell(racetrap::DestroyEventRequest{event}));
}

}
