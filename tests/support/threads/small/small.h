/* Common part of the small programs.  Each is a function that starts its own threads; whether it has a
 * race does not depend on how they are scheduled.  The argument of a program is the case's name.
 */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "cases.h"

/* The data that is guarded correctly or not; not static, so that no store is dropped. */
int data;

typedef void *work(void *);

/* Two threads side by side, until both have ended. */
static inline void both(work *one, work *other)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, other, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

/* Wait until a flag is set, without any order of other accesses. */
static inline void await_relaxed(atomic_int *flag)
{
    while (!atomic_load_explicit(flag, memory_order_relaxed))
        sched_yield();
}

static inline void set_relaxed(atomic_int *flag)
{
    atomic_store_explicit(flag, 1, memory_order_relaxed);
}
