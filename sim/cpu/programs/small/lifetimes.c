/* Create, join, detached threads, and memory that is used again. */
#include <stdlib.h>

#include "cases.h"
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

void create_after_data(void)
{
    pthread_t thread;
    data = 1;
    pthread_create(&thread, NULL, change, NULL);
    pthread_join(thread, NULL);
    data++;
}

void create_before_data(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    data = 1;
    pthread_join(thread, NULL);
}

void join_of_someone_else(void)
{
    pthread_t thread, other;
    pthread_create(&thread, NULL, change, NULL);
    pthread_create(&other, NULL, use_heap, NULL);
    pthread_join(other, NULL);
    data++;
    pthread_join(thread, NULL);
}

void detached_without_order(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change_and_tell, NULL);
    pthread_detach(thread);
    await_relaxed(&has_finished);
    data++;
}

void siblings(void)
{
    both(change, change);
}

void siblings_one_after_the_other(void)
{
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, change, NULL);
        pthread_join(thread, NULL);
    }
}

void heap_used_again(void)
{
    both(use_heap, use_heap);
}
