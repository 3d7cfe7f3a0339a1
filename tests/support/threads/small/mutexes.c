/* Mutexes and spin locks. */
#include "small.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static atomic_int is_held, is_tried;

static void *locked(void *unused)
{
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *other_locked(void *unused)
{
    pthread_mutex_lock(&other_mutex);
    data++;
    pthread_mutex_unlock(&other_mutex);
    return unused;
}

static void *unlocked(void *unused)
{
    data++;
    return unused;
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&mutex);
    set_relaxed(&is_held);
    data++;
    await_relaxed(&is_tried);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *try_rightly(void *unused)
{
    while (pthread_mutex_trylock(&mutex) != 0)
        sched_yield();
    data++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *try_wrongly(void *unused)
{
    await_relaxed(&is_held);
    int result = pthread_mutex_trylock(&mutex);
    data++;
    set_relaxed(&is_tried);
    if (result == 0)
        pthread_mutex_unlock(&mutex);
    return unused;
}

static void *spin_locked(void *unused)
{
    pthread_spin_lock(&spin);
    data++;
    pthread_spin_unlock(&spin);
    return unused;
}

static void mutex_held(void)
{
    both(locked, locked);
}

static void mutex_left_out(void)
{
    both(locked, unlocked);
}

static void mutex_of_something_else(void)
{
    both(locked, other_locked);
}

static void trylock_repeated(void)
{
    both(locked, try_rightly);
}

static void trylock_result_ignored(void)
{
    both(hold, try_wrongly);
}

static void spin_lock_held(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    both(spin_locked, spin_locked);
}

static void spin_lock_left_out(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    both(spin_locked, unlocked);
}

CASES(
    CASE(mutex_held, clean),
    CASE(mutex_left_out, racy),
    CASE(mutex_of_something_else, racy),
    CASE(trylock_repeated, clean),
    CASE(trylock_result_ignored, racy),
    CASE(spin_lock_held, clean),
    CASE(spin_lock_left_out, racy),
)
