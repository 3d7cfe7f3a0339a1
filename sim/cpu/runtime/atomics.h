// Begin and end of a recorded atomic operation.
#ifndef ATOMICS_H
#define ATOMICS_H

#include "record.h"

// Clears which threads are in an atomic operation.
void racetrap_reset_stripes(void);

// Around an atomic operation: between the two calls no other one on its variable runs.  `is_failed`
// means that it changed nothing, `value` is the value that it read.
void racetrap_atomic_begin(const volatile void *address);
void racetrap_atomic_end(unsigned kind, const volatile void *address, unsigned size, int order,
                         uint32_t pc, int is_failed, uint64_t value);

#endif
