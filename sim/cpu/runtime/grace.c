// Grace period: threads that still run when the program ends may continue for a while, so that
// their accesses are recorded, too.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

#define POLL_MILLISECONDS 2
#define QUIET_POLLS 5  // in a row: then no thread is left that could wake another

static long grace;  // milliseconds

// Whether a thread waits in the process, without a limit: in futex(), whose fourth argument is 0.
static int waits_for_ever(int tasks, const char *name) {
    char text[256], *at = text;
    int folder = openat(tasks, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = openat(folder, "syscall", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0) syscall(SYS_close, file);
    if (folder >= 0) syscall(SYS_close, folder);
    if (bytes <= 0) return 0;
    text[bytes] = 0;
    if (strtoul(text, &at, 10) != SYS_futex || at == text) return 0;
    unsigned long limit = 1;
    for (int argument = 0; argument < 4; argument++) limit = strtoul(at, &at, 16);
    return !limit;
}

// Whether all other threads of the process wait forever.  Without the C library's functions for
// folders, which would allocate memory.
static int all_wait(void) {
    char entries[4096];
    long bytes;
    int all = 1, tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0) return 0;
    while (all && (bytes = syscall(SYS_getdents64, tasks, entries, sizeof entries)) > 0)
        for (long at = 0; all && at < bytes;) {
            struct dirent64 *task = (struct dirent64 *)(entries + at);
            at += task->d_reclen;
            if (*task->d_name != '.' && (int)strtoul(task->d_name, NULL, 10) != self.tid)
                all = waits_for_ever(tasks, task->d_name);
        }
    syscall(SYS_close, tasks);
    return all;
}

static void give_grace(int status, void *unused) {
    (void)status, (void)unused;
    if (!racetrap_is_on) return;
    // A thread that has ended is not among those that run, and the calling one is not waited for.
    int own = !self.is_ended, quiet = 0;
    for (long left = grace; left > 0; left -= POLL_MILLISECONDS) {
        if (racetrap_running_threads() <= own) return;
        quiet = all_wait() ? quiet + 1 : 0;
        if (quiet == QUIET_POLLS) return;
        usleep(1000 * POLL_MILLISECONDS);
    }
    int others = racetrap_running_threads() - own;
    if (others > 0 && !all_wait()) racetrap_lose(OUTLIVING_THREADS, others);
}

void racetrap_prepare_grace(void) {
    const char *text = getenv("RACETRAP_GRACE");
    grace = text ? (long)strtoul(text, NULL, 10) : 0;
    // The function that atexit() is given first runs last: after those of the program, which may
    // join its threads.
    on_exit(give_grace, NULL);
}
