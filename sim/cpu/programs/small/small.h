/* Common part of the small programs.  Each is a function that starts its own threads; whether it has a
 * race does not depend on how they are scheduled.  The argument of a program is the case's name.
 */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The data that is guarded correctly or not; not static, so that no store is dropped. */
int data;

typedef void *work(void *);

/* Two threads side by side, until both have ended. */
static inline void both(work *one, work *other)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, other, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

/* Wait until a flag is set, without any order of other accesses. */
static inline void await_relaxed(atomic_int *flag)
{
    while (!atomic_load_explicit(flag, memory_order_relaxed))
        sched_yield();
}

static inline void set_relaxed(atomic_int *flag)
{
    atomic_store_explicit(flag, 1, memory_order_relaxed);
}

struct small_case {
    const char *name;
    void (*run)(void);
};

/* One case; the verdict, clean or racy, is read from the source by the catalogue. */
#define CASE(name, verdict) {#name, name}

static inline int run_case(const struct small_case *cases, size_t count, int words, char **word)
{
    for (size_t i = 0; words == 2 && i < count; i++)
        if (strcmp(word[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "%s: argument is one of the cases at its end\n", word[0]);
    return 1;
}

/* The main function of a program with these cases. */
#define CASES(...)                                                                      \
    int main(int count, char **arguments)                                               \
    {                                                                                   \
        static const struct small_case cases[] = {__VA_ARGS__};                         \
        return run_case(cases, sizeof cases / sizeof *cases, count, arguments);         \
    }
