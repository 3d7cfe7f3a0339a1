/* C11 atomics, and pthread_once beside its imitations. */
#include "small.h"

static atomic_int flag, counter;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_made;

static void *publish_release(void *unused)
{
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}

static void *publish_relaxed(void *unused)
{
    data = 1;
    set_relaxed(&flag);
    return unused;
}

static void *receive_acquire(void *unused)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        sched_yield();
    data++;
    return unused;
}

static void *receive_relaxed(void *unused)
{
    await_relaxed(&flag);
    data++;
    return unused;
}

/* Passes on what the store before it released, since it is an update. */
static void *publish_by_update(void *unused)
{
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    return unused;
}

static void *receive_updated(void *unused)
{
    while (atomic_load_explicit(&flag, memory_order_acquire) != 2)
        sched_yield();
    data++;
    return unused;
}

static void *count(void *unused)
{
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    return unused;
}

static void *count_and_use(void *unused)
{
    if (atomic_fetch_add(&counter, 1) == 0)
        data = 1;
    else
        data = 2;
    return unused;
}

static void *count_plainly(void *unused)
{
    *(volatile int *)&counter = 1;
    return unused;
}

static void *hold_spin_lock(void *unused)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&flag, &expected, 1)) {
        expected = 0;
        sched_yield();
    }
    data++;
    atomic_store(&flag, 0);
    return unused;
}

static void *hold_relaxed_spin_lock(void *unused)
{
    while (atomic_exchange_explicit(&flag, 1, memory_order_relaxed))
        sched_yield();
    data++;
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
    return unused;
}

static void make(void)
{
    data = 1;
    is_made = 1;
}

static void *make_once(void *unused)
{
    pthread_once(&once, make);
    return data == 1 ? unused : NULL;
}

static void *make_double_checked(void *unused)
{
    if (!is_made) {
        pthread_mutex_lock(&mutex);
        if (!is_made)
            make();
        pthread_mutex_unlock(&mutex);
    }
    return data == 1 ? unused : NULL;
}

static void *make_double_checked_atomic(void *unused)
{
    if (!atomic_load(&flag)) {
        pthread_mutex_lock(&mutex);
        if (!atomic_load(&flag)) {
            data = 1;
            atomic_store(&flag, 1);
        }
        pthread_mutex_unlock(&mutex);
    }
    return data == 1 ? unused : NULL;
}

static void atomic_release_acquire(void)
{
    both(publish_release, receive_acquire);
}

static void atomic_relaxed_store(void)
{
    both(publish_relaxed, receive_acquire);
}

static void atomic_relaxed_load(void)
{
    both(publish_release, receive_relaxed);
}

static void atomic_update_in_between(void)
{
    both(publish_by_update, receive_updated);
}

static void atomic_counter(void)
{
    both(count, count);
}

static void atomic_update_after_nothing(void)
{
    both(publish_relaxed, count_and_use);
}

static void atomic_and_plain(void)
{
    both(count, count_plainly);
}

static void atomic_spin_lock(void)
{
    both(hold_spin_lock, hold_spin_lock);
}

static void atomic_relaxed_spin_lock(void)
{
    both(hold_relaxed_spin_lock, hold_relaxed_spin_lock);
}

static void once_called(void)
{
    both(make_once, make_once);
}

static void once_imitated(void)
{
    both(make_double_checked, make_double_checked);
}

static void once_imitated_with_atomics(void)
{
    both(make_double_checked_atomic, make_double_checked_atomic);
}

CASES(
    CASE(atomic_release_acquire, clean),
    CASE(atomic_relaxed_store, racy),
    CASE(atomic_relaxed_load, racy),
    CASE(atomic_update_in_between, clean),
    CASE(atomic_counter, clean),
    CASE(atomic_update_after_nothing, racy),
    CASE(atomic_and_plain, racy),
    CASE(atomic_spin_lock, clean),
    CASE(atomic_relaxed_spin_lock, racy),
    CASE(once_called, clean),
    CASE(once_imitated, racy),
    CASE(once_imitated_with_atomics, clean),
)
