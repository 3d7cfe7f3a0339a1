// Memory that the program has registered, and memory in the order of a stream.
#pragma once

#include "handles.h"

namespace racetrap {

// Whether an address lies in registered memory.
bool is_registered(const void *pointer);

// Allocates device memory in the order of a stream; `from` is the return address of the call.
cudaError_t allocate_in_stream(void **pointer, size_t bytes, cudaStream_t stream, const void *from);

}  // namespace racetrap
