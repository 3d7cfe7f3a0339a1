/* Condition variables. */
#include "small.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_ready;
static atomic_int is_told;

static void signal_ready(void)
{
    pthread_mutex_lock(&mutex);
    is_ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static void *produce(void *unused)
{
    data = 1;
    signal_ready();
    return unused;
}

static void *produce_late(void *unused)
{
    signal_ready();
    data = 1;
    return unused;
}

static void *consume(void *unused)
{
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    data++;
    return unused;
}

static void *produce_and_tell(void *unused)
{
    produce(unused);
    set_relaxed(&is_told);
    return unused;
}

static void *consume_without_lock(void *unused)
{
    await_relaxed(&is_told);
    if (!is_ready) {
        pthread_mutex_lock(&mutex);
        while (!is_ready)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void condition_after_data(void)
{
    both(produce, consume);
}

static void condition_before_data(void)
{
    both(produce_late, consume);
}

static void condition_seen_without_lock(void)
{
    both(produce_and_tell, consume_without_lock);
}

CASES(
    CASE(condition_after_data, clean),
    CASE(condition_before_data, racy),
    CASE(condition_seen_without_lock, racy),
)
