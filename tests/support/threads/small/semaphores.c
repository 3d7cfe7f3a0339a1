/* Semaphores. */
#include <semaphore.h>

#include "small.h"

static sem_t semaphore;
static atomic_int is_inside[2];

static void *post_after(void *unused)
{
    data = 1;
    sem_post(&semaphore);
    return unused;
}

static void *post_before(void *unused)
{
    sem_post(&semaphore);
    data = 1;
    return unused;
}

static void *await_post(void *unused)
{
    sem_wait(&semaphore);
    data++;
    return unused;
}

static void *take_unit(void *unused)
{
    sem_wait(&semaphore);
    data++;
    sem_post(&semaphore);
    return unused;
}

/* Both are inside at a time. */
static void *first_of_two(void *unused)
{
    sem_wait(&semaphore);
    data++;
    set_relaxed(&is_inside[0]);
    await_relaxed(&is_inside[1]);
    sem_post(&semaphore);
    return unused;
}

static void *second_of_two(void *unused)
{
    sem_wait(&semaphore);
    await_relaxed(&is_inside[0]);
    data++;
    set_relaxed(&is_inside[1]);
    sem_post(&semaphore);
    return unused;
}

static void semaphore_after_data(void)
{
    sem_init(&semaphore, 0, 0);
    both(post_after, await_post);
}

static void semaphore_before_data(void)
{
    sem_init(&semaphore, 0, 0);
    both(post_before, await_post);
}

static void semaphore_of_one(void)
{
    sem_init(&semaphore, 0, 1);
    both(take_unit, take_unit);
}

static void semaphore_of_two(void)
{
    sem_init(&semaphore, 0, 2);
    both(first_of_two, second_of_two);
}

CASES(
    CASE(semaphore_after_data, clean),
    CASE(semaphore_before_data, racy),
    CASE(semaphore_of_one, clean),
    CASE(semaphore_of_two, racy),
)
