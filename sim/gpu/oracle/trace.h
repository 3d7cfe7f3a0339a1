// Events as the oracle reads them.
#pragma once

#include "twins.h"

//: Row of an event in its kernel.
using Time = int32_t;

inline bool acquires(uint8_t order) { return order == ACQUIRE || order == ACQ_REL; }
inline bool releases(uint8_t order) { return order == RELEASE || order == ACQ_REL; }

// What decides whether an access conflicts with others, and is morally strong with them.
struct Kind {
    uint8_t size;
    bool is_strong, is_device, is_volatile, writes;
    uint32_t pc;
    uint32_t pc_number;  // of its instruction
};
