// Capture of streams: what a program gives to a stream that is captured becomes work of a graph.
#pragma once

#include <functional>

#include "handles.h"

namespace racetrap {

// Work of a graph, given to the stream in which a launch of the graph runs it.
using Work = std::function<cudaError_t(cudaStream_t)>;

// Whether a stream is captured.
bool is_captured(cudaStream_t stream);

// Adds work to the graph of a stream that is captured.
cudaError_t keep(cudaStream_t stream, Work work);

// Events of a capture: a captured stream records one, and another stream that waits for it is
// captured from then on.  False if neither concerns a capture.
bool keep_record(cudaEvent_t event, cudaStream_t stream);
bool keep_wait(cudaStream_t stream, cudaEvent_t event);

}  // namespace racetrap
