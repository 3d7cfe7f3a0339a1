/* What the programs share: command line, threads, random numbers, and how they end. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64 };

/* The check of a result is no part of the program: gcc leaves it without instrumentation. */
#define CHECK_ONLY __attribute__((no_sanitize_thread, no_sanitize_coverage, noinline))
/* What both need becomes a part of either. */
#define ALSO_IN_CHECK __attribute__((always_inline)) inline

/* Written before any other thread exists. */
static int threads;
static int size;
static uint64_t seed;
static const char *program_name;
static int prints_result;

#define USAGE "arguments must be: threads (1 to 64), size, seed, and print if wanted"

__attribute__((noreturn)) static inline void fail(const char *message)
{
    fprintf(stderr, "%s: %s\n", program_name, message);
    exit(1);
}

static inline int number_between(const char *text, int smallest, int largest)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || number < smallest || number > largest)
        fail(USAGE);
    return (int)number;
}

/* Command line of every program: THREADS SIZE SEED, and "print" to see a checksum of the result. */
static inline void read_arguments(int count, char **arguments, int smallest, int largest)
{
    program_name = arguments[0];
    prints_result = count == 5 && strcmp(arguments[4], "print") == 0;
    if (count != 4 + prints_result)
        fail(USAGE);
    threads = number_between(arguments[1], 1, MAX_THREADS);
    size = number_between(arguments[2], smallest, largest);
    seed = (uint64_t)number_between(arguments[3], 0, INT32_MAX);
}

/* First of n items that belong to a thread; its last is the one before the next thread's first. */
static inline int first_of(int self, int n)
{
    return (int)((int64_t)n * self / threads);
}

static inline void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (memory == NULL)
        fail("no memory");
    return memory;
}

/* splitmix64: a number for a state, which moves on. */
static ALSO_IN_CHECK uint64_t next_random(uint64_t *state)
{
    uint64_t value = (*state += 0x9e3779b97f4a7c15u);
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* In [0, 1). */
static ALSO_IN_CHECK double next_real(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* A checksum goes on from one word to the next (FNV-1a over words). */
static ALSO_IN_CHECK uint64_t mixed(uint64_t checksum, uint64_t word)
{
    return (checksum ^ word) * 0x100000001b3u;
}

/* The same for every number of threads. */
static inline void print_result(uint64_t checksum)
{
    if (prints_result)
        printf("%016llx\n", (unsigned long long)checksum);
}

struct thread_start {
    void (*work)(int self);
    int self;
};

static inline void *start_thread(void *argument)
{
    struct thread_start *start = (struct thread_start *)argument;
    start->work(start->self);
    return NULL;
}

/* Run work(0) here and work(1), work(2), ... in threads of their own, until all have ended. */
static inline void run_threads(void (*work)(int self))
{
    pthread_t thread[MAX_THREADS];
    struct thread_start start[MAX_THREADS];
    for (int self = 1; self < threads; self++) {
        start[self].work = work;
        start[self].self = self;
        if (pthread_create(&thread[self], NULL, start_thread, &start[self]) != 0)
            fail("no thread");
    }
    work(0);
    for (int self = 1; self < threads; self++)
        pthread_join(thread[self], NULL);
}
