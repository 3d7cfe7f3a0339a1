/* Barriers. */
#include "small.h"

enum { ROUNDS = 4 };

static pthread_barrier_t barrier;
static atomic_int is_past[ROUNDS][2];
int halves[2], sums[2];

/* Both threads are past the barrier; this orders no accesses. */
static void await_other(int self, int round)
{
    set_relaxed(&is_past[round][self]);
    await_relaxed(&is_past[round][1 - self]);
}

static void exchange_halves(int self, int waits_after_reading)
{
    for (int round = 0; round < ROUNDS; round++) {
        halves[self] = round;
        pthread_barrier_wait(&barrier);
        await_other(self, round);
        sums[self] += halves[1 - self];
        if (waits_after_reading)
            pthread_barrier_wait(&barrier);
    }
}

static void *first_twice(void *unused)
{
    exchange_halves(0, 1);
    return unused;
}

static void *second_twice(void *unused)
{
    exchange_halves(1, 1);
    return unused;
}

static void *first_once(void *unused)
{
    exchange_halves(0, 0);
    return unused;
}

static void *second_once(void *unused)
{
    exchange_halves(1, 0);
    return unused;
}

static void *write_before(void *unused)
{
    data = 1;
    pthread_barrier_wait(&barrier);
    return unused;
}

static void *write_after(void *unused)
{
    pthread_barrier_wait(&barrier);
    data = 2;
    return unused;
}

static void barrier_between(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    both(write_before, write_after);
}

static void barrier_too_early(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    both(write_after, write_after);
}

static void barrier_on_both_sides(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    both(first_twice, second_twice);
}

static void barrier_on_one_side(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    both(first_once, second_once);
}

CASES(
    CASE(barrier_between, clean),
    CASE(barrier_too_early, racy),
    CASE(barrier_on_both_sides, clean),
    CASE(barrier_on_one_side, racy),
)
