// Teams of threads of OpenMP, and what orders them.
#ifndef OPENMP_H
#define OPENMP_H

#include "record.h"

// A parallel region: every thread of the team begins after its call, which ends after all of them,
// and after all tasks.
struct region {
    void (*routine)(void *);
    void *data;
    int has_tasks;
};

extern __thread struct region *racetrap_team;

static inline void sync_flag(unsigned kind, const void *object, uint32_t pc) {
    if (is_recording()) racetrap_sync(kind, (uint64_t)object, 0, FLAG, pc);
}

#endif
