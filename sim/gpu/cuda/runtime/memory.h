// Host memory that the program has registered.
#pragma once

namespace racetrap {

// Whether an address lies in registered memory.
bool is_registered(const void *pointer);

}  // namespace racetrap
