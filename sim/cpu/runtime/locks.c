// Mutexes, spin locks and reader-writer locks: an acquire is recorded after the real operation, a
// release before it, so that the numbers of a lock's events are in their real order.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "record.h"

static int is_recursive(const pthread_mutex_t *mutex) {
    return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP;
}

static int locked(pthread_mutex_t *mutex, enum wait wait, int error, uint32_t pc) {
    if (error == EOWNERDEAD && racetrap_is_on)
        racetrap_die("Robust mutexes left by a dead owner are not supported");
    // Of a recursive mutex only the outermost lock and unlock count.
    if (!error && !(is_recursive(mutex) && mutex->__data.__count > 1))
        racetrap_sync(ACQUIRE, (uint64_t)mutex, wait, MUTEX, pc);
    return error;
}

#define LOCK_BY(wait, call)                       \
    {                                             \
        racetrap_delay();                         \
        return locked(mutex, wait, call, CALLER); \
    }

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
    LOCK_BY(UNBOUNDED, REAL(pthread_mutex_lock)(mutex))

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
    LOCK_BY(BOUNDED, REAL(pthread_mutex_trylock)(mutex))

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
    LOCK_BY(BOUNDED, REAL(pthread_mutex_timedlock)(mutex, until))

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                   const struct timespec *until)
    LOCK_BY(BOUNDED, REAL(pthread_mutex_clocklock)(mutex, clock, until))

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    int kind = mutex->__data.__kind & 3;
    int is_owner = mutex->__data.__owner == self.tid;
    if (!is_owner && is_recording() && (kind == PTHREAD_MUTEX_TIMED_NP ||
                                        kind == PTHREAD_MUTEX_ADAPTIVE_NP))
        racetrap_die("Mutex must be unlocked by the thread that holds it, not by thread %d at %#x",
                     self.number, CALLER);
    if (is_owner && !(is_recursive(mutex) && mutex->__data.__count > 1))
        racetrap_sync(RELEASE, (uint64_t)mutex, 0, MUTEX, CALLER);
    return REAL(pthread_mutex_unlock)(mutex);
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
    ACQUIRE_BY(lock, MUTEX, UNBOUNDED, REAL(pthread_spin_lock)(lock))

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
    ACQUIRE_BY(lock, MUTEX, BOUNDED, REAL(pthread_spin_trylock)(lock))

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock) {
    racetrap_sync(RELEASE, (uint64_t)lock, 0, MUTEX, CALLER);
    return REAL(pthread_spin_unlock)(lock);
}

// The four functions that lock for reading (rd) or writing (wr).
#define RWLOCK(way, class)                                                                   \
    EXPORT int pthread_rwlock_##way##lock(pthread_rwlock_t *lock)                            \
        ACQUIRE_BY(lock, class, UNBOUNDED, REAL(pthread_rwlock_##way##lock)(lock))           \
    EXPORT int pthread_rwlock_try##way##lock(pthread_rwlock_t *lock)                         \
        ACQUIRE_BY(lock, class, BOUNDED, REAL(pthread_rwlock_try##way##lock)(lock))          \
    EXPORT int pthread_rwlock_timed##way##lock(pthread_rwlock_t *lock,                       \
                                               const struct timespec *until)                 \
        ACQUIRE_BY(lock, class, BOUNDED, REAL(pthread_rwlock_timed##way##lock)(lock, until)) \
    EXPORT int pthread_rwlock_clock##way##lock(pthread_rwlock_t *lock, clockid_t clock,      \
                                               const struct timespec *until)                 \
        ACQUIRE_BY(lock, class, BOUNDED,                                                     \
                   REAL(pthread_rwlock_clock##way##lock)(lock, clock, until))

RWLOCK(rd, RWLOCK_READ)
RWLOCK(wr, RWLOCK_WRITE)

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    int is_writer = lock->__data.__cur_writer == self.tid;
    racetrap_sync(RELEASE, (uint64_t)lock, 0, is_writer ? RWLOCK_WRITE : RWLOCK_READ, CALLER);
    return REAL(pthread_rwlock_unlock)(lock);
}
