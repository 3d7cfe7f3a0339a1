/* Threads, mutexes, conditions and storage of C11. */
#include <threads.h>

#include "small.h"

static mtx_t mutex;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t own;
static int is_ready;

static void together(thrd_start_t one, thrd_start_t other)
{
    thrd_t first, second;
    thrd_create(&first, one, NULL);
    thrd_create(&second, other, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
}

static int add_locked(void *unused)
{
    (void)unused;
    mtx_lock(&mutex);
    data++;
    mtx_unlock(&mutex);
    return 0;
}

static int add_if_free(void *unused)
{
    (void)unused;
    while (mtx_trylock(&mutex) != thrd_success)
        thrd_yield();
    data++;
    mtx_unlock(&mutex);
    return 0;
}

static int add(void *unused)
{
    (void)unused;
    data++;
    return 0;
}

static int produce(void *unused)
{
    (void)unused;
    data = 1;
    mtx_lock(&mutex);
    is_ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&mutex);
    return 0;
}

static int produce_late(void *unused)
{
    (void)unused;
    mtx_lock(&mutex);
    is_ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
    data = 1;
    return 0;
}

static int consume(void *unused)
{
    (void)unused;
    mtx_lock(&mutex);
    while (!is_ready)
        cnd_wait(&changed, &mutex);
    mtx_unlock(&mutex);
    data++;
    return 0;
}

static void set_data(void)
{
    data = 1;
}

static int read_after_once(void *unused)
{
    (void)unused;
    call_once(&once, set_data);
    return data;
}

static int write_after_once(void *unused)
{
    (void)unused;
    call_once(&once, set_data);
    data++;
    return 0;
}

static int add_to_own(void *word)
{
    static int words[2];
    static atomic_int taken;
    (void)word;
    tss_set(own, &words[atomic_fetch_add(&taken, 1)]);
    ++*(int *)tss_get(own);
    return 0;
}

static int add_to_passed_on(void *word)
{
    ++*(int *)word;
    return 0;
}

static void c11_mutex(void)
{
    mtx_init(&mutex, mtx_plain);
    together(add_locked, add_locked);
}

static void c11_mutex_left_out(void)
{
    mtx_init(&mutex, mtx_plain);
    together(add_locked, add);
}

static void c11_recursive_mutex(void)
{
    mtx_init(&mutex, mtx_plain | mtx_recursive);
    together(add_locked, add_if_free);
}

static void c11_condition_after_data(void)
{
    mtx_init(&mutex, mtx_plain);
    cnd_init(&changed);
    together(produce, consume);
}

static void c11_condition_before_data(void)
{
    mtx_init(&mutex, mtx_plain);
    cnd_init(&changed);
    together(produce_late, consume);
}

static void c11_join(void)
{
    thrd_t thread;
    thrd_create(&thread, add, NULL);
    thrd_join(thread, NULL);
    data++;
}

static void c11_join_too_late(void)
{
    thrd_t thread;
    thrd_create(&thread, add, NULL);
    data++;
    thrd_join(thread, NULL);
}

static void c11_once(void)
{
    together(read_after_once, read_after_once);
}

static void c11_once_and_more(void)
{
    together(write_after_once, read_after_once);
}

static void c11_storage_of_each(void)
{
    tss_create(&own, NULL);
    together(add_to_own, add_to_own);
}

static void c11_local_passed_on(void)
{
    int word = 0;
    thrd_t thread;
    thrd_create(&thread, add_to_passed_on, &word);
    word++;
    thrd_join(thread, NULL);
}

CASES(
    CASE(c11_mutex, clean),
    CASE(c11_mutex_left_out, racy),
    CASE(c11_recursive_mutex, clean),
    CASE(c11_condition_after_data, clean),
    CASE(c11_condition_before_data, racy),
    CASE(c11_join, clean),
    CASE(c11_join_too_late, racy),
    CASE(c11_once, clean),
    CASE(c11_once_and_more, racy),
    CASE(c11_storage_of_each, clean),
    CASE(c11_local_passed_on, racy),
)
