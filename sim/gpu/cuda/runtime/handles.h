// Numbers of streams behind the program's handles.
#pragma once

#include "executor.h"

namespace racetrap {

// Number of the stream that a handle stands for.
cudaError_t stream_of(cudaStream_t handle, uint32_t &stream);

}  // namespace racetrap
