// Barriers, condition variables, semaphores and pthread_once.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "record.h"

// Threads that a barrier waits for.  A barrier that is initialised again at the same place is
// another one: its events name another byte of it.
struct barrier {
    uint64_t address;
    uint32_t width, generation;
};

#define BARRIERS 4096

static spinlock table;
static struct barrier barriers[BARRIERS];

static struct barrier *find(const pthread_barrier_t *barrier) {
    uint64_t address = (uint64_t)barrier;
    uint64_t place = address / sizeof *barrier % BARRIERS;
    for (int tried = 0; tried < BARRIERS; tried++, place = (place + 1) % BARRIERS)
        if (!barriers[place].address || barriers[place].address == address)
            return &barriers[place];
    racetrap_die("Barriers must be at most %d", BARRIERS);
}

EXPORT int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                                unsigned width) {
    int error = REAL(pthread_barrier_init)(barrier, attributes, width);
    if (error || !racetrap_is_on) return error;
    racetrap_lock(&table);
    struct barrier *known = find(barrier);
    if (known->address) known->generation++;
    known->address = (uint64_t)barrier;
    known->width = width;
    racetrap_unlock(&table);
    return 0;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
    if (!racetrap_is_on) return REAL(pthread_barrier_wait)(barrier);
    racetrap_lock(&table);
    struct barrier known = *find(barrier);
    racetrap_unlock(&table);
    if (!known.address) racetrap_die("Barrier must be initialised before it is waited for");
    uint64_t object = known.address + known.generation % sizeof *barrier;
    racetrap_delay();
    racetrap_sync(BARRIER_ARRIVE, object, 0, known.width, CALLER);
    int result = REAL(pthread_barrier_wait)(barrier);
    racetrap_sync(BARRIER_LEAVE, object, 0, known.width, CALLER);
    return result;
}

// The C library has older functions of the same names, too.
#define REAL_CONDITION(name) REAL_VERSION(name, "GLIBC_2.3.2")

// A thread that is cancelled while it waits has the mutex again when it cleans up.
static void have_again(void *mutex) { racetrap_sync(ACQUIRE, (uint64_t)mutex, 0, MUTEX, 0); }

#define WAIT_BY(call)                                                          \
    {                                                                          \
        int error;                                                             \
        racetrap_sync(RELEASE, (uint64_t)mutex, 0, MUTEX, CALLER);             \
        pthread_cleanup_push(have_again, mutex);                               \
        error = call;                                                          \
        pthread_cleanup_pop(0);                                                \
        racetrap_sync(ACQUIRE, (uint64_t)mutex, 0, MUTEX, CALLER);             \
        if (!error) racetrap_sync(ACQUIRE, (uint64_t)condition, 0, CONDITION, CALLER); \
        return error;                                                          \
    }

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
    WAIT_BY(REAL_CONDITION(pthread_cond_wait)(condition, mutex))

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
    WAIT_BY(REAL_CONDITION(pthread_cond_timedwait)(condition, mutex, until))

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until)
    WAIT_BY(REAL(pthread_cond_clockwait)(condition, mutex, clock, until))

EXPORT int pthread_cond_signal(pthread_cond_t *condition) {
    racetrap_sync(RELEASE, (uint64_t)condition, 0, CONDITION, CALLER);
    return REAL_CONDITION(pthread_cond_signal)(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition) {
    racetrap_sync(RELEASE, (uint64_t)condition, 0, CONDITION, CALLER);
    return REAL_CONDITION(pthread_cond_broadcast)(condition);
}

EXPORT int sem_wait(sem_t *semaphore)
    ACQUIRE_BY(semaphore, SEMAPHORE, UNBOUNDED, REAL(sem_wait)(semaphore))

EXPORT int sem_trywait(sem_t *semaphore)
    ACQUIRE_BY(semaphore, SEMAPHORE, BOUNDED, REAL(sem_trywait)(semaphore))

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
    ACQUIRE_BY(semaphore, SEMAPHORE, BOUNDED, REAL(sem_timedwait)(semaphore, until))

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
    ACQUIRE_BY(semaphore, SEMAPHORE, BOUNDED, REAL(sem_clockwait)(semaphore, clock, until))

EXPORT int sem_post(sem_t *semaphore) {
    racetrap_sync(RELEASE, (uint64_t)semaphore, 0, SEMAPHORE, CALLER);
    return REAL(sem_post)(semaphore);
}

static __thread struct {
    pthread_once_t *control;
    void (*routine)(void);
} once;

static void run_once(void) {
    pthread_once_t *control = once.control;
    once.routine();
    racetrap_sync(RELEASE, (uint64_t)control, 0, FLAG, 0);
}

EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void)) {
    __typeof__(once) outer = once;  // a routine may do something else once
    once.control = control;
    once.routine = routine;
    int error = REAL(pthread_once)(control, run_once);
    once = outer;
    if (!error) racetrap_sync(ACQUIRE, (uint64_t)control, 0, FLAG, CALLER);
    return error;
}
