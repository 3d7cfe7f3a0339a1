// Threads of C11: by the pthread functions, which the C library's own bypass.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>

#include "record.h"

static int status_of(int error) {
    switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    default: return thrd_error;
    }
}

// The types have the same layout: the C library converts them in the same way.
#define MUTEX_OF(mutex) ((pthread_mutex_t *)(mutex))
#define CONDITION_OF(condition) ((pthread_cond_t *)(condition))

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
    void *(*start)(void *) = (void *(*)(void *))(void *)routine;
    return status_of(pthread_create(thread, NULL, start, argument));
}

EXPORT int thrd_join(thrd_t thread, int *result) {
    void *value;
    int error = pthread_join(thread, &value);
    if (!error && result) *result = (int)(intptr_t)value;
    return status_of(error);
}

EXPORT int mtx_lock(mtx_t *mutex) { return status_of(pthread_mutex_lock(MUTEX_OF(mutex))); }

EXPORT int mtx_trylock(mtx_t *mutex) { return status_of(pthread_mutex_trylock(MUTEX_OF(mutex))); }

EXPORT int mtx_timedlock(mtx_t *mutex, const struct timespec *until) {
    return status_of(pthread_mutex_timedlock(MUTEX_OF(mutex), until));
}

EXPORT int mtx_unlock(mtx_t *mutex) { return status_of(pthread_mutex_unlock(MUTEX_OF(mutex))); }

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    return status_of(pthread_cond_wait(CONDITION_OF(condition), MUTEX_OF(mutex)));
}

EXPORT int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
    return status_of(pthread_cond_timedwait(CONDITION_OF(condition), MUTEX_OF(mutex), until));
}

EXPORT int cnd_signal(cnd_t *condition) {
    return status_of(pthread_cond_signal(CONDITION_OF(condition)));
}

EXPORT int cnd_broadcast(cnd_t *condition) {
    return status_of(pthread_cond_broadcast(CONDITION_OF(condition)));
}

EXPORT void call_once(once_flag *flag, void (*routine)(void)) {
    pthread_once((pthread_once_t *)flag, routine);
}
