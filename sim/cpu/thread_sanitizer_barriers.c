/* Wrapper of ThreadSanitizer's barriers: no thread leaves a crossing for good before all have
 * left it.
 *
 * ThreadSanitizer keeps one clock for a barrier, not one for each crossing: whoever leaves late
 * would also learn of what others did up to their next arrival, and races with that are missed.
 * This file is not instrumented, so waiting here orders nothing in its eyes.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { BARRIERS = 64 };

struct barrier {
    pthread_barrier_t *place;
    unsigned width;
    unsigned long left;
};

static struct barrier barriers[BARRIERS];
static int used, lock;

int __real_pthread_barrier_init(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned);
int __real_pthread_barrier_wait(pthread_barrier_t *);

static struct barrier *find(pthread_barrier_t *place)
{
    int count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    for (int number = 0; number < count; number++)
        if (barriers[number].place == place)
            return &barriers[number];
    return NULL;
}

int __wrap_pthread_barrier_init(pthread_barrier_t *place, const pthread_barrierattr_t *attributes,
                                unsigned width)
{
    int error = __real_pthread_barrier_init(place, attributes, width);
    if (error)
        return error;
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    struct barrier *barrier = find(place);
    if (barrier == NULL && used == BARRIERS) {
        fprintf(stderr, "Barriers must be at most %d\n", BARRIERS);
        exit(1);
    }
    if (barrier == NULL)
        barrier = &barriers[used];
    *barrier = (struct barrier){place, width, 0};
    if (barrier == &barriers[used])
        __atomic_store_n(&used, used + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return 0;
}

int __wrap_pthread_barrier_wait(pthread_barrier_t *place)
{
    int result = __real_pthread_barrier_wait(place);
    struct barrier *barrier = find(place);
    if (barrier == NULL)
        return result; /* initialised without a call; nothing is known of its width */
    unsigned long own = __atomic_fetch_add(&barrier->left, 1, __ATOMIC_SEQ_CST);
    unsigned long all = (own / barrier->width + 1) * barrier->width;
    while (__atomic_load_n(&barrier->left, __ATOMIC_SEQ_CST) < all)
        sched_yield();
    return result;
}
