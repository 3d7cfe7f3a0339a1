// OpenMP: the compiler's calls of its library, which synchronises by means of its own.
#define _GNU_SOURCE
#include "openmp.h"

__thread struct region *racetrap_team;

static void run_in_team(void *argument) {
    struct region *region = argument, *before = racetrap_team;
    sync_flag(ACQUIRE, &region->routine, 0);
    racetrap_team = region;
    region->routine(region->data);
    racetrap_team = before;
    sync_flag(RELEASE, &region->data, 0);
}

// An entry point that runs a routine in all threads of a new team.
#define PARALLEL(name, parameters, arguments)                                              \
    void name(void (*)(void *), void *, unsigned, parameters);                             \
    EXPORT void name(void (*routine)(void *), void *data, unsigned threads, parameters) {  \
        struct region region = {routine, data, 0};                                          \
        sync_flag(RELEASE, &region.routine, CALLER);                                       \
        REAL(name)(run_in_team, &region, threads, arguments);                              \
        sync_flag(ACQUIRE, &region.data, CALLER);                                          \
    }

#define COMMA ,
#define LOOP long start COMMA long end COMMA long step COMMA unsigned flags
#define LOOP_ARGUMENTS start COMMA end COMMA step COMMA flags
#define CHUNKS long start COMMA long end COMMA long step COMMA long chunk COMMA unsigned flags
#define CHUNK_ARGUMENTS start COMMA end COMMA step COMMA chunk COMMA flags

PARALLEL(GOMP_parallel, unsigned flags, flags)
PARALLEL(GOMP_parallel_sections, unsigned count COMMA unsigned flags, count COMMA flags)
PARALLEL(GOMP_parallel_loop_static, CHUNKS, CHUNK_ARGUMENTS)
PARALLEL(GOMP_parallel_loop_dynamic, CHUNKS, CHUNK_ARGUMENTS)
PARALLEL(GOMP_parallel_loop_guided, CHUNKS, CHUNK_ARGUMENTS)
PARALLEL(GOMP_parallel_loop_nonmonotonic_dynamic, CHUNKS, CHUNK_ARGUMENTS)
PARALLEL(GOMP_parallel_loop_nonmonotonic_guided, CHUNKS, CHUNK_ARGUMENTS)
PARALLEL(GOMP_parallel_loop_runtime, LOOP, LOOP_ARGUMENTS)
PARALLEL(GOMP_parallel_loop_nonmonotonic_runtime, LOOP, LOOP_ARGUMENTS)
PARALLEL(GOMP_parallel_loop_maybe_nonmonotonic_runtime, LOOP, LOOP_ARGUMENTS)

int omp_get_num_threads(void);

// An entry point that waits for the whole team, and for all tasks.
#define BARRIER(name)                                                                        \
    void name(void);                                                                         \
    EXPORT void name(void) {                                                                 \
        struct region *team = is_recording() ? racetrap_team : NULL;                         \
        uint32_t width = team ? REAL(omp_get_num_threads)() : 0;                             \
        if (team) racetrap_sync(BARRIER_ARRIVE, (uint64_t)team, 0, width, CALLER);           \
        REAL(name)();                                                                        \
        if (team) racetrap_sync(BARRIER_LEAVE, (uint64_t)team, 0, width, CALLER);            \
        if (team && __atomic_load_n(&team->has_tasks, __ATOMIC_RELAXED))                     \
            racetrap_sync(ACQUIRE, (uint64_t)&team->data, 0, FLAG, CALLER);                  \
    }

BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)

// The data that one thread of a team hands to the others.
void *GOMP_single_copy_start(void);
EXPORT void *GOMP_single_copy_start(void) {
    void *data = REAL(GOMP_single_copy_start)();
    if (data && racetrap_team) sync_flag(ACQUIRE, (char *)racetrap_team + 1, CALLER);
    return data;
}

void GOMP_single_copy_end(void *data);
EXPORT void GOMP_single_copy_end(void *data) {
    if (racetrap_team) sync_flag(RELEASE, (char *)racetrap_team + 1, CALLER);
    REAL(GOMP_single_copy_end)(data);
}

static const char unnamed_critical, atomic_section;

static void sync_mutex(unsigned kind, const volatile void *object, uint32_t pc) {
    if (is_recording()) racetrap_sync(kind, (uint64_t)object, 0, MUTEX, pc);
}

// Two entry points between which there is one thread at a time.
#define SECTION(lock, unlock, parameters, arguments, object) \
    void lock(parameters), unlock(parameters);               \
    EXPORT void lock(parameters) {                           \
        racetrap_delay();                                    \
        REAL(lock)(arguments);                               \
        sync_mutex(ACQUIRE, object, CALLER);                 \
    }                                                        \
    EXPORT void unlock(parameters) {                         \
        sync_mutex(RELEASE, object, CALLER);                 \
        REAL(unlock)(arguments);                             \
    }

SECTION(GOMP_critical_start, GOMP_critical_end, void, , &unnamed_critical)
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, void **name, name, name)
SECTION(GOMP_atomic_start, GOMP_atomic_end, void, , &atomic_section)
SECTION(omp_set_lock, omp_unset_lock, void *lock, lock, lock)

int omp_test_lock(void *lock);
EXPORT int omp_test_lock(void *lock) {
    int is_taken = REAL(omp_test_lock)(lock);
    if (is_taken && is_recording())
        racetrap_sync(ACQUIRE, (uint64_t)lock, BOUNDED, MUTEX, CALLER);
    return is_taken;
}

// Ordered parts of a loop: each comes after those before it.
void GOMP_ordered_start(void), GOMP_ordered_end(void);
EXPORT void GOMP_ordered_start(void) {
    REAL(GOMP_ordered_start)();
    if (racetrap_team) sync_flag(ACQUIRE, (char *)racetrap_team + 2, CALLER);
}

EXPORT void GOMP_ordered_end(void) {
    if (racetrap_team) sync_flag(RELEASE, (char *)racetrap_team + 2, CALLER);
    REAL(GOMP_ordered_end)();
}
