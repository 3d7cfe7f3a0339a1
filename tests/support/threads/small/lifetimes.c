/* Create, join, detached threads, and memory that is used again. */
#include <stdlib.h>

#include "small.h"

static atomic_int has_finished;

static void *change(void *unused)
{
    data++;
    return unused;
}

static void *change_and_tell(void *unused)
{
    data++;
    set_relaxed(&has_finished);
    return unused;
}

static void *use_heap(void *unused)
{
    for (int i = 0; i < 8; i++) {
        int *memory = malloc(64);
        memory[i] = i;
        free(memory);
    }
    return unused;
}

static void create_after_data(void)
{
    pthread_t thread;
    data = 1;
    pthread_create(&thread, NULL, change, NULL);
    pthread_join(thread, NULL);
    data++;
}

static void create_before_data(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    data = 1;
    pthread_join(thread, NULL);
}

static void join_of_someone_else(void)
{
    pthread_t thread, other;
    pthread_create(&thread, NULL, change, NULL);
    pthread_create(&other, NULL, use_heap, NULL);
    pthread_join(other, NULL);
    data++;
    pthread_join(thread, NULL);
}

static void detached_without_order(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change_and_tell, NULL);
    pthread_detach(thread);
    await_relaxed(&has_finished);
    data++;
}

static void siblings(void)
{
    both(change, change);
}

static void siblings_one_after_the_other(void)
{
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, change, NULL);
        pthread_join(thread, NULL);
    }
}

static void heap_used_again(void)
{
    both(use_heap, use_heap);
}

CASES(
    CASE(create_after_data, clean),
    CASE(create_before_data, racy),
    CASE(join_of_someone_else, racy),
    CASE(detached_without_order, racy),
    CASE(siblings, racy),
    CASE(siblings_one_after_the_other, clean),
    CASE(heap_used_again, clean),
)
