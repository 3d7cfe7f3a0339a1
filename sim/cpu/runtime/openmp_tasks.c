// Tasks of OpenMP: each begins after its creation and what it depends on, and ends before a thread
// that waits for it continues.
#define _GNU_SOURCE
#include "openmp.h"

#include <stdlib.h>
#include <string.h>

// Bits of a task's flags, as the compiler's library has them.
enum { DEPENDS = 1 << 3, NO_GROUP = 1 << 11, REDUCES = 1 << 12, IS_DETACHED = 1 << 13 };

// What a task, or a thread outside all, waits for: objects that its children release at their ends.
struct context {
    uint64_t children, group;
};

// A group whose end waits for the tasks of the group.
struct group {
    uint64_t object, outer;
    struct group *before;
};

struct task {
    void (*routine)(void *);
    void *arguments;  // its own copy
    void **depends;   // likewise; NULL: on nothing
    struct region *team;
    uint64_t object, parent, group;
};

static uint64_t objects = 1ull << 60;  // addresses that no program has
static __thread struct context outside, *inside;
static __thread struct group *groups;

static uint64_t new_object(void) { return __atomic_add_fetch(&objects, 16, __ATOMIC_RELAXED); }

static struct context *context(void) {
    if (inside) return inside;
    if (!outside.children) outside.children = new_object();
    return &outside;
}

static void sync_object(unsigned kind, uint64_t object, uint32_t pc) {
    if (object) sync_flag(kind, (void *)object, pc);
}

// Events on what is depended on.  A writer comes after all before it, a reader after all writers:
// readers release the address behind that of writers.
static void sync_depends(unsigned kind, void **depends, uint32_t pc) {
    if (!depends) return;
    // Number of addresses, and how many of them, the first ones, are written; in the later form,
    // which begins with 0, other numbers follow.
    int is_later = !depends[0];
    uintptr_t count = (uintptr_t)depends[is_later], written = (uintptr_t)depends[1 + is_later];
    if (is_later) written += (uintptr_t)depends[3];
    void **addresses = depends + (is_later ? 5 : 2);
    for (uintptr_t i = 0; i < count; i++) {
        char *address = addresses[i];
        int writes = i < written;
        if (kind == ACQUIRE || writes) sync_flag(kind, address, pc);
        if (kind == ACQUIRE ? writes : !writes) sync_flag(kind, address + 1, pc);
    }
}

static void **copy_depends(void **depends) {
    int is_later = !depends[0];
    size_t size = ((uintptr_t)depends[is_later] + (is_later ? 5 : 2)) * sizeof *depends;
    return memcpy(malloc(size), depends, size);
}

static struct task *create_task(void (*routine)(void *), void *data, void (*copy)(void *, void *),
                                long size, long alignment, unsigned flags, void **depends,
                                uint32_t pc) {
    if (flags & (REDUCES | IS_DETACHED))
        racetrap_die("Tasks of OpenMP must have no clause in_reduction or detach");
    struct context *parent = context();
    size_t room = (size / alignment + 1) * alignment;
    struct task *task = malloc(sizeof *task);
    *task = (struct task){
        .routine = routine, .team = racetrap_team, .object = new_object(),
        .parent = parent->children, .group = parent->group,
        .arguments = aligned_alloc(alignment, room),
        .depends = flags & DEPENDS && depends ? copy_depends(depends) : NULL,
    };
    if (copy) copy(task->arguments, data);
    else memcpy(task->arguments, data, size);
    if (task->team) __atomic_store_n(&task->team->has_tasks, 1, __ATOMIC_RELAXED);
    sync_object(RELEASE, task->object, pc);
    return task;
}

static void run_task(void *block) {
    struct task *task = *(struct task **)block;
    struct context own = {new_object(), task->group}, *before = inside;
    struct region *team = racetrap_team;
    sync_object(ACQUIRE, task->object, 0);
    sync_depends(ACQUIRE, task->depends, 0);
    inside = &own;
    racetrap_team = task->team;
    task->routine(task->arguments);
    racetrap_team = team;
    inside = before;
    sync_depends(RELEASE, task->depends, 0);
    sync_object(RELEASE, task->parent, 0);
    sync_object(RELEASE, task->group, 0);
    if (task->team) sync_flag(RELEASE, &task->team->data, 0);
    free(task->depends);
    free(task->arguments);
    free(task);
}

void GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long, long, _Bool, unsigned,
               void **, int, void *);
EXPORT void GOMP_task(void (*routine)(void *), void *data, void (*copy)(void *, void *), long size,
                      long alignment, _Bool is_deferred, unsigned flags, void **depends,
                      int priority, void *detach) {
    racetrap_delay();
    if (!is_recording()) {
        REAL(GOMP_task)(routine, data, copy, size, alignment, is_deferred, flags, depends, priority,
                        detach);
        return;
    }
    struct task *task =
        create_task(routine, data, copy, size, alignment, flags, depends, CALLER);
    uint64_t end = task->parent;
    REAL(GOMP_task)(run_task, &task, NULL, sizeof task, _Alignof(struct task *), is_deferred, flags,
                    depends, priority, detach);
    if (!is_deferred) sync_object(ACQUIRE, end, CALLER);
}

void GOMP_taskwait(void);
EXPORT void GOMP_taskwait(void) {
    REAL(GOMP_taskwait)();
    sync_object(ACQUIRE, context()->children, CALLER);
}

void GOMP_taskwait_depend(void **depends);
EXPORT void GOMP_taskwait_depend(void **depends) {
    REAL(GOMP_taskwait_depend)(depends);
    sync_depends(ACQUIRE, depends, CALLER);
}

static void begin_group(void) {
    struct group *group = malloc(sizeof *group);
    *group = (struct group){new_object(), context()->group, groups};
    groups = group;
    context()->group = group->object;
}

static void end_group(uint32_t pc) {
    struct group *group = groups;
    sync_object(ACQUIRE, group->object, pc);
    context()->group = group->outer;
    groups = group->before;
    free(group);
}

void GOMP_taskgroup_start(void);
EXPORT void GOMP_taskgroup_start(void) {
    begin_group();
    REAL(GOMP_taskgroup_start)();
}

void GOMP_taskgroup_end(void);
EXPORT void GOMP_taskgroup_end(void) {
    REAL(GOMP_taskgroup_end)();
    end_group(CALLER);
}

// What the library copies for each task of a loop: the bounds, which it fills in, and the task.
struct part {
    uint64_t start, end;
    struct task *task;
};

struct loop {
    void (*routine)(void *);
    void *data;
    void (*copy)(void *, void *);
    long size, alignment;
    unsigned flags;
    uint32_t pc;
};

static void create_part(void *part, void *data) {
    struct loop *loop = data;
    ((struct part *)part)->task = create_task(loop->routine, loop->data, loop->copy, loop->size,
                                              loop->alignment, loop->flags, NULL, loop->pc);
}

static void run_part(void *data) {
    struct part *part = data;
    memcpy(part->task->arguments, part, 2 * sizeof part->start);
    run_task(&part->task);
}

#define TASKLOOP(name, number)                                                                   \
    void name(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,          \
              unsigned long, int, number, number, number);                                       \
    EXPORT void name(void (*routine)(void *), void *data, void (*copy)(void *, void *),          \
                     long size, long alignment, unsigned flags, unsigned long tasks,             \
                     int priority, number start, number end, number step) {                      \
        if (!is_recording()) {                                                                   \
            REAL(name)(routine, data, copy, size, alignment, flags, tasks, priority, start, end, \
                       step);                                                                    \
            return;                                                                              \
        }                                                                                        \
        struct loop loop = {routine, data, copy, size, alignment, flags, CALLER};                \
        int has_group = !(flags & NO_GROUP);                                                     \
        if (has_group) begin_group();                                                            \
        REAL(name)(run_part, &loop, create_part, sizeof(struct part), _Alignof(struct part),     \
                   flags, tasks, priority, start, end, step);                                    \
        if (has_group) end_group(CALLER);                                                        \
    }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
