// Threads: numbers in the order of creation, stacks at fixed places, begin, end and join.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "record.h"

// Stacks lie below 4 GiB, so that all addresses differ in 32 bits; none is used twice.
#define STACKS_BEGIN 0xa0000000u
#define STACKS_END 0xf0000000u
#define LARGE_STACK (8u << 20)  // of the first threads
#define SMALL_STACK (1u << 20)
#define LARGE_STACKS 32
#define PAGE 4096u
#define CREATION_RECORDS 64  // more than a creation makes: it may take and give back memory

struct start {
    void *(*routine)(void *);
    void *argument;
    pthread_t thread;
    int is_joined;
    sigset_t signals;  // blocked in the thread's own work
};

static spinlock creation;
static struct start starts[MAX_THREADS];
static int thread_count = 1;
static int running = 1;  // threads that have been created and have not ended
static uintptr_t next_stack = STACKS_BEGIN;
static pthread_key_t ending;

// Destructors of the program's own keys may still access memory: ours runs last.
static void end_last(void *value) {
    intptr_t rounds = (intptr_t)value;
    if (rounds > 1) {
        pthread_setspecific(ending, (void *)(rounds - 1));
        return;
    }
    // The thread's record ends here, so a handler could not be recorded: other threads take the
    // signals.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (is_recording()) racetrap_end_thread();
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELAXED);
}

int racetrap_running_threads(void) { return __atomic_load_n(&running, __ATOMIC_RELAXED); }

void racetrap_forget_threads(void) { running = 1; }

static void end_with_thread(void) {
    pthread_setspecific(ending, (void *)(intptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
}

void racetrap_prepare_threads(void) {
    if (pthread_key_create(&ending, end_last)) racetrap_die("Keys of threads must not be used up");
    starts[0].thread = pthread_self();
    end_with_thread();
}

static void *run_thread(void *argument) {
    struct start *start = argument;
    // Before another thread can join: the thread itself may pass its name to others.
    start->thread = pthread_self();
    end_with_thread();
    racetrap_begin_thread(start - starts);
    pthread_sigmask(SIG_SETMASK, &start->signals, NULL);
    return start->routine(start->argument);
}

static void give_stack(pthread_attr_t *attributes) {
    void *base;
    size_t size;
    pthread_attr_getstack(attributes, &base, &size);
    if ((uintptr_t)base + size != 0) return;  // the program has its own
    pthread_attr_t plain;
    size_t usual;
    pthread_attr_init(&plain);
    pthread_attr_getstacksize(&plain, &usual);
    pthread_attr_destroy(&plain);
    if (size == usual) size = thread_count <= LARGE_STACKS ? LARGE_STACK : SMALL_STACK;
    size = (size + 2 * PAGE - 1) / PAGE * PAGE;
    if (next_stack + size > STACKS_END) racetrap_die("Stacks of threads must fit into 1280 MiB");
    base = mmap((void *)next_stack, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (base != (void *)next_stack)
        racetrap_die("Stack of a thread cannot be placed at %#lx: %s", next_stack,
                     strerror(errno));
    mprotect(base, PAGE, PROT_NONE);  // an overflow must not reach the next stack
    next_stack += size;
    pthread_attr_setstack(attributes, (char *)base + PAGE, size - PAGE);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*routine)(void *), void *argument) {
    if (!racetrap_is_on) return REAL(pthread_create)(thread, attributes, routine, argument);
    racetrap_delay();
    // No signal may reach the new thread before its record begins, nor this one while it holds the
    // lock.  A mask among the attributes is shared with the program's own: it is put back before
    // another thread can be created.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    racetrap_lock(&creation);
    if (thread_count == MAX_THREADS) racetrap_die("Threads must be at most %d", MAX_THREADS);
    struct start *start = &starts[thread_count];
    *start = (struct start){.routine = routine, .argument = argument};
    pthread_attr_t own;
    pthread_attr_init(&own);
    if (attributes) own = *attributes;
    uintptr_t stacks = next_stack;
    give_stack(&own);
    if (self.end - self.next < CREATION_RECORDS) racetrap_grow();
    racetrap_sync(CREATE, 0, 0, thread_count, CALLER);
    struct record *created = self.next - 2;
    int has_mask = !pthread_attr_getsigmask_np(&own, &start->signals);
    if (has_mask) pthread_attr_setsigmask_np(&own, &all);
    else start->signals = before;
    __atomic_fetch_add(&running, 1, __ATOMIC_RELAXED);
    int error = REAL(pthread_create)(thread, &own, run_thread, start);
    if (has_mask) pthread_attr_setsigmask_np(&own, &start->signals);
    if (!error) {
        start->thread = *thread;  // the thread itself may not have run yet
        thread_count++;
    } else {
        __atomic_fetch_sub(&running, 1, __ATOMIC_RELAXED);
    }
    if (error && !self.is_ended) {  // the event is withdrawn
        put(created, FILLER, 0, 0, 0, 0);
        put(created + 1, FILLER, 0, 0, 0, 0);
        munmap((void *)stacks, next_stack - stacks);
        next_stack = stacks;
    }
    racetrap_unlock(&creation);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

// Number of a thread that may be joined; the latest one that had the name.
static int number_of(pthread_t thread) {
    for (int number = thread_count; number >= 0; number--)
        if (number < MAX_THREADS && starts[number].thread == thread && !starts[number].is_joined)
            return number;
    return -1;
}

static int joined(int number, int error, uint32_t pc) {
    if (error) return error;
    starts[number].is_joined = 1;
    racetrap_sync(JOIN, 0, 0, number, pc);
    return 0;
}

// The name is looked up before: it may be given to a new thread at once.
#define JOIN_BY(call)                                                     \
    {                                                                     \
        if (!racetrap_is_on) return call;                                 \
        int number = number_of(thread);                                   \
        return number < 0 ? ESRCH : joined(number, call, CALLER);         \
    }

EXPORT int pthread_join(pthread_t thread, void **result)
    JOIN_BY(REAL(pthread_join)(thread, result))

EXPORT int pthread_tryjoin_np(pthread_t thread, void **result)
    JOIN_BY(REAL(pthread_tryjoin_np)(thread, result))

EXPORT int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
    JOIN_BY(REAL(pthread_timedjoin_np)(thread, result, until))

EXPORT int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                                const struct timespec *until)
    JOIN_BY(REAL(pthread_clockjoin_np)(thread, result, clock, until))
