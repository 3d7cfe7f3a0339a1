// Processes that the program makes by fork: records are those of one process at a time, of the
// parent or, if requested, of the latest child.
#define _GNU_SOURCE
#include "atomics.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// What pthread_atfork() calls, which itself is not in the shared C library.
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library);

static int follows_child, hands_over;

static void before_fork(void) {
    racetrap_lock_heap();  // one thread forks at a time
    hands_over = follows_child && racetrap_is_on;
    if (!hands_over) return;
    racetrap_is_on = 0;
    racetrap_leave_raw();
}

static void in_parent(void) {
    if (hands_over) {
        racetrap_hand_over_raw();
        if (is_recording()) racetrap_grow();
    } else if (racetrap_is_on) {
        racetrap_lose(CHILDREN, 1);
    }
    racetrap_unlock_heap();
}

static void note_status(int status, void *unused) {
    (void)unused;
    racetrap_note_status(status);
}

static void in_child(void) {
    racetrap_unlock_heap();
    racetrap_reset_stripes();  // their holders are threads of the parent
    racetrap_forget_threads();
    if (hands_over) {
        racetrap_take_over_raw();
        racetrap_is_on = 1;
        self.tid = syscall(SYS_gettid);
        if (is_recording()) racetrap_grow();  // the part before has the number of the parent's
        on_exit(note_status, NULL);
    } else if (racetrap_is_on) {
        racetrap_is_on = 0;
        racetrap_grow();
        racetrap_close_raw();
    }
    self.depth = 0;
}

void racetrap_watch_forks(int wants_child) {
    follows_child = wants_child;
    __register_atfork(before_fork, in_parent, in_child, NULL);
}

// These bypass the functions that run at exit.
EXPORT _Noreturn void _exit(int status) {
    racetrap_note_status(status);
    for (;;) syscall(SYS_exit_group, status);
}

EXPORT _Noreturn void _Exit(int status) { _exit(status); }
