// Events of traces of threads, as records in memory.
#ifndef THREAD_EVENTS_H
#define THREAD_EVENTS_H

#include "twins.h"

// Bits of an access's value below its frame: those of an atomic one's order.
inline unsigned bits_below_frame(const Event &access) { return access.kind > STORE ? ORDER_BITS : 0; }

#endif
