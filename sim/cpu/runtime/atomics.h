// What the entry points of atomic operations share.
#ifndef ATOMICS_H
#define ATOMICS_H

#include "record.h"

// Around an atomic operation: no other one on its variable is between the two.  `is_failed` says
// that it changed nothing, `value` what it saw.
void racetrap_atomic_begin(const volatile void *address);
void racetrap_atomic_end(unsigned kind, const volatile void *address, unsigned size, int order,
                         uint32_t pc, int is_failed, uint64_t value);

#endif
