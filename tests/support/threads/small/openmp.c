/* Parallel regions of OpenMP. */
#include <omp.h>

#include "cases.h"

enum { THREADS = 2, WORDS = 8 };

/* The data that is guarded correctly or not; not static, so that no store is dropped. */
int data, words[WORDS];

static void openmp_own_words(void)
{
#pragma omp parallel for num_threads(THREADS) schedule(static)
    for (int word = 0; word < WORDS; word++)
        words[word]++;
}

static void openmp_same_word(void)
{
#pragma omp parallel num_threads(THREADS)
    data++;
}

static void openmp_reduction(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(THREADS) reduction(+ : sum)
    for (int word = 0; word < WORDS; word++)
        sum += words[word];
    data = sum;
}

static void openmp_critical(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp critical
    data++;
}

static void openmp_two_critical_sections(void)
{
#pragma omp parallel num_threads(THREADS)
    if (omp_get_thread_num()) {
#pragma omp critical(one)
        data++;
    } else {
#pragma omp critical(other)
        data++;
    }
}

static void openmp_atomic(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp atomic
    data++;
}

static void openmp_atomic_and_plain(void)
{
#pragma omp parallel num_threads(THREADS)
    if (omp_get_thread_num()) {
#pragma omp atomic
        data++;
    } else {
        data++;
    }
}

static void openmp_barrier(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 0)
            data = 1;
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            data++;
    }
}

static void openmp_no_barrier(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 0)
            data = 1;
        if (omp_get_thread_num() == 1)
            data++;
    }
}

static void openmp_loops_in_turn(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(static)
        for (int word = 0; word < WORDS; word++)
            words[word] = word;
#pragma omp for schedule(static)
        for (int word = 0; word < WORDS; word++)
            words[WORDS - 1 - word]++;
    }
}

static void openmp_loops_without_waiting(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(static) nowait
        for (int word = 0; word < WORDS; word++)
            words[word] = word;
#pragma omp for schedule(static)
        for (int word = 0; word < WORDS; word++)
            words[WORDS - 1 - word]++;
    }
}

static void openmp_sections(void)
{
#pragma omp parallel sections num_threads(THREADS)
    {
#pragma omp section
        words[0]++;
#pragma omp section
        words[1]++;
    }
}

static void openmp_lock(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
    {
        omp_set_lock(&lock);
        data++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
}

static void openmp_region_after_region(void)
{
#pragma omp parallel num_threads(THREADS)
    if (omp_get_thread_num() == 1)
        data = 1;
#pragma omp parallel num_threads(THREADS)
    if (omp_get_thread_num() == 0)
        data++;
}

CASES(
    CASE(openmp_own_words, clean),
    CASE(openmp_same_word, racy),
    CASE(openmp_reduction, clean),
    CASE(openmp_critical, clean),
    CASE(openmp_two_critical_sections, racy),
    CASE(openmp_atomic, clean),
    CASE(openmp_atomic_and_plain, racy),
    CASE(openmp_barrier, clean),
    CASE(openmp_no_barrier, racy),
    CASE(openmp_loops_in_turn, clean),
    CASE(openmp_loops_without_waiting, racy),
    CASE(openmp_sections, clean),
    CASE(openmp_lock, clean),
    CASE(openmp_region_after_region, clean),
)
