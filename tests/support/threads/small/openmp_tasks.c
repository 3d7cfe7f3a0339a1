/* Tasks of OpenMP. */
#include <sched.h>

#include "cases.h"

enum { WORDS = 8 };

/* The data that is guarded correctly or not; not static, so that no store is dropped. */
int data, words[WORDS];

/* Wait for the other of two tasks without any order: they run in different threads. */
static void meet(void)
{
    static int started;
    __atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&started, __ATOMIC_RELAXED) < 2)
        sched_yield();
}

/* Tasks are made by one thread and run by two. */
#define TEAM _Pragma("omp parallel num_threads(2)") _Pragma("omp single")

static void openmp_task_each_word(void)
{
    TEAM
    for (int word = 0; word < WORDS; word++)
#pragma omp task
        words[word]++;
}

static void openmp_task_same_word(void)
{
    TEAM
    for (int i = 0; i < 2; i++)
#pragma omp task
    {
        meet();
        data++;
    }
}

static void openmp_task_waited_for(void)
{
    TEAM
    {
#pragma omp task
        data = 1;
#pragma omp taskwait
        data++;
    }
}

static void openmp_task_not_waited_for(void)
{
    TEAM
    {
#pragma omp task
        {
            meet();
            data = 1;
        }
        meet();
        data++;
    }
}

static void openmp_task_of_task_not_waited_for(void)
{
    TEAM
    {
#pragma omp task
        {
#pragma omp task
            {
                meet();
                data = 1;
            }
        }
#pragma omp taskwait
        meet();
        data++;
    }
}

static void openmp_task_group(void)
{
    TEAM
    {
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task
                data = 1;
            }
        }
        data++;
    }
}

static void openmp_task_after_writer(void)
{
    TEAM
    {
#pragma omp task depend(out : words[0])
        data = 1;
#pragma omp task depend(in : words[0])
        words[1] = data;
#pragma omp task depend(in : words[0])
        words[2] = data;
#pragma omp task depend(inout : words[0])
        data = words[1] + words[2];
    }
}

static void openmp_task_after_another(void)
{
    TEAM
    for (int i = 0; i < 2; i++)
#pragma omp task depend(inout : words[i])
    {
        meet();
        data++;
    }
}

static void openmp_task_writes_as_reader(void)
{
    TEAM
    for (int i = 0; i < 2; i++)
#pragma omp task depend(in : words[0])
    {
        meet();
        data++;
    }
}

static void openmp_task_at_once(void)
{
    TEAM
    {
#pragma omp task if (0)
        data = 1;
        data++;
    }
}

static void openmp_task_before_barrier(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp single nowait
        {
#pragma omp task
            data = 1;
        }
#pragma omp barrier
#pragma omp single
        data++;
    }
}

static void openmp_task_shares_local(void)
{
    TEAM
    {
        int own = 1;
#pragma omp task shared(own)
        {
            meet();
            own++;
        }
        meet();
        own++;
#pragma omp taskwait
        data = own;
    }
}

static void openmp_task_loop(void)
{
    TEAM
    {
#pragma omp taskloop grainsize(2)
        for (int word = 0; word < WORDS; word++)
            words[word] = word;
        data = words[0] + words[WORDS - 1];
    }
}

static void openmp_task_loop_not_waited_for(void)
{
    TEAM
    {
#pragma omp taskloop num_tasks(1) nogroup
        for (int word = 0; word < WORDS; word++) {
            if (!word)
                meet();
            words[word] = word;
        }
        meet();
        data = words[WORDS - 1];
    }
}

CASES(
    CASE(openmp_task_each_word, clean),
    CASE(openmp_task_same_word, racy),
    CASE(openmp_task_waited_for, clean),
    CASE(openmp_task_not_waited_for, racy),
    CASE(openmp_task_of_task_not_waited_for, racy),
    CASE(openmp_task_group, clean),
    CASE(openmp_task_after_writer, clean),
    CASE(openmp_task_after_another, racy),
    CASE(openmp_task_writes_as_reader, racy),
    CASE(openmp_task_at_once, clean),
    CASE(openmp_task_before_barrier, clean),
    CASE(openmp_task_shares_local, racy),
    CASE(openmp_task_loop, clean),
    CASE(openmp_task_loop_not_waited_for, racy),
)
