// A kernel as the oracle reads it.
#pragma once

#include "twins.h"

inline bool acquires(uint8_t order) { return order == ACQUIRE || order == ACQ_REL; }
inline bool releases(uint8_t order) { return order == RELEASE || order == ACQ_REL; }
