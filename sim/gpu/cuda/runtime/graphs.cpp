// Graphs by stream capture: the work of a graph in the order in which it was captured, which a
// launch runs in streams of the graph's own, with its events.

#include "graphs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "missing.h"

namespace racetrap {
namespace {

enum class Kind { WORK, RECORD, WAIT };

// A step of a graph: in the stream, and for the event, that the program captured.
struct Step {
  Kind kind;
  cudaStream_t stream;
  cudaEvent_t event;
  Work work;
};

struct Graph {
  cudaStream_t origin;
  std::vector<Step> steps;
};

struct Executable {
  Graph graph;
  std::map<cudaStream_t, cudaStream_t> streams;
  std::map<cudaEvent_t, cudaEvent_t> events;
  cudaEvent_t begin, end;
};

// Captures that are going on, by each of their streams, and by the events that they recorded.
std::map<cudaStream_t, std::shared_ptr<Graph>> &captures() {
  static auto *found = new std::map<cudaStream_t, std::shared_ptr<Graph>>;
  return *found;
}
std::map<cudaEvent_t, std::shared_ptr<Graph>> &recorded() {
  static auto *found = new std::map<cudaEvent_t, std::shared_ptr<Graph>>;
  return *found;
}

// Whether all work of a graph comes before the end of the stream in which its capture began.
bool is_joined(const Graph &graph) {
  std::set<cudaStream_t> joined{graph.origin};
  std::set<cudaEvent_t> awaited;
  for (auto step = graph.steps.rbegin(); step != graph.steps.rend(); ++step) {
    if (step->kind == Kind::RECORD && awaited.erase(step->event)) joined.insert(step->stream);
    if (!joined.count(step->stream)) return false;
    if (step->kind == Kind::WAIT) awaited.insert(step->event);
  }
  return true;
}

template <class Map>
void forget(Map &map, const std::shared_ptr<Graph> &graph) {
  for (auto at = map.begin(); at != map.end();) at = at->second == graph ? map.erase(at) : ++at;
}

// Gives an executable its own streams and events.
cudaError_t prepare(Executable &executable) {
  cudaError_t error = cudaEventCreate(&executable.begin);
  if (!error) error = cudaEventCreate(&executable.end);
  for (const Step &step : executable.graph.steps) {
    if (!error && !executable.streams.count(step.stream))
      error = cudaStreamCreateWithFlags(&executable.streams[step.stream], cudaStreamNonBlocking);
    if (!error && step.kind != Kind::WORK && !executable.events.count(step.event))
      error = cudaEventCreate(&executable.events[step.event]);
  }
  return error;
}

cudaError_t run(const Executable &executable, cudaStream_t stream) {
  cudaError_t error = cudaEventRecord(executable.begin, stream);
  // A launch also waits for the launch before of the same executable.
  for (auto [captured, own] : executable.streams)
    for (cudaEvent_t event : {executable.begin, executable.end})
      if (!error) error = cudaStreamWaitEvent(own, event, 0);
  for (const Step &step : executable.graph.steps) {
    if (error) return error;
    cudaStream_t own = executable.streams.at(step.stream);
    if (step.kind == Kind::WORK) error = step.work(own);
    if (step.kind == Kind::RECORD) error = cudaEventRecord(executable.events.at(step.event), own);
    if (step.kind == Kind::WAIT) error = cudaStreamWaitEvent(own, executable.events.at(step.event), 0);
  }
  auto origin = executable.streams.find(executable.graph.origin);
  if (error || origin == executable.streams.end()) return error;
  error = cudaEventRecord(executable.end, origin->second);
  return error ? error : cudaStreamWaitEvent(stream, executable.end, 0);
}

}  // namespace

bool is_captured(cudaStream_t stream) {
  Guard held = guard();
  return captures().count(stream) > 0;
}

cudaError_t keep(cudaStream_t stream, Work work) {
  Guard held = guard();
  captures().at(stream)->steps.push_back({Kind::WORK, stream, nullptr, std::move(work)});
  return cudaSuccess;
}

bool keep_record(cudaEvent_t event, cudaStream_t stream) {
  Guard held = guard();
  auto found = captures().find(stream);
  if (found == captures().end()) {
    recorded().erase(event);
    return false;
  }
  recorded()[event] = found->second;
  found->second->steps.push_back({Kind::RECORD, stream, event, {}});
  return true;
}

bool keep_wait(cudaStream_t stream, cudaEvent_t event) {
  Guard held = guard();
  auto found = recorded().find(event);
  if (found == recorded().end()) return false;
  captures()[stream] = found->second;
  found->second->steps.push_back({Kind::WAIT, stream, event, {}});
  return true;
}

}  // namespace racetrap

using namespace racetrap;

namespace {

// What is behind a handle of a graph.
Graph *graph_of(cudaGraph_t handle) { return reinterpret_cast<Graph *>(handle); }
Executable *executable_of(cudaGraphExec_t handle) { return reinterpret_cast<Executable *>(handle); }

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Guard held = guard();
  if (!stream || stream == cudaStreamLegacy) return note(cudaErrorStreamCaptureUnsupported);
  if (captures().count(stream)) return note(cudaErrorIllegalState);
  captures()[stream] = std::make_shared<Graph>(Graph{stream, {}});
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  Guard held = guard();
  *graph = nullptr;
  auto found = captures().find(stream);
  if (found == captures().end()) return note(cudaErrorIllegalState);
  std::shared_ptr<Graph> own = found->second;
  if (own->origin != stream) return note(cudaErrorStreamCaptureUnmatched);
  forget(captures(), own);
  forget(recorded(), own);
  if (!is_joined(*own)) return note(cudaErrorStreamCaptureUnjoined);
  *graph = reinterpret_cast<cudaGraph_t>(new Graph(*own));
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  *status = is_captured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  thread_local cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
  std::swap(own, *mode);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *handle, cudaGraph_t graph, unsigned long long) {
  if (!graph) return note(cudaErrorInvalidValue);
  Guard held = guard();
  auto *made = new Executable{*graph_of(graph), {}, {}, nullptr, nullptr};
  *handle = reinterpret_cast<cudaGraphExec_t>(made);
  return note(prepare(*made));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *handle, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(handle, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  if (!handle) return note(cudaErrorInvalidValue);
  if (is_captured(stream)) return missing("cudaGraphLaunch in a stream that is captured", RACETRAP_FROM);
  Guard held = guard();
  return note(run(*executable_of(handle), stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  if (!handle) return note(cudaErrorInvalidValue);
  Executable *executable = executable_of(handle);
  for (auto [captured, own] : executable->streams) cudaStreamDestroy(own);
  for (auto [captured, own] : executable->events) cudaEventDestroy(own);
  cudaEventDestroy(executable->begin);
  cudaEventDestroy(executable->end);
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph_of(graph);
  return note(graph ? cudaSuccess : cudaErrorInvalidValue);
}

}
