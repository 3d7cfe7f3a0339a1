// The file of records: mapped once, before the program begins, and handed out in parts.
//
// No descriptor is kept: the program may close every number, open its own files in their places,
// change its root or its limits.
#define _GNU_SOURCE
#include "raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LARGEST_FILE (1ull << 38)
#define SMALLEST_FILE (1ull << 26)
#define EXIT_STATUS 97
#define CHILD_MILLISECONDS 1000  // that a new process has to begin; without one fork has failed
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// Start of the file, which Python reads.
struct raw_file {
    uint64_t used;     // bytes handed out, this page included
    uint64_t events;   // counted so far
    uint32_t process;  // child that is recorded from now on; 0: none
    uint32_t status;   // one more than its exit status; 0 while it runs, and if it did not exit
    uint64_t lost[LOSSES];
    char error[4072 - LOSSES * sizeof(uint64_t)];  // why recording ended early
};

static struct raw_file *raw;
static uint64_t raw_bytes;
static struct raw_file *other;  // the same file elsewhere, on its way to a child
static int is_left;             // to a child: what is mapped here is not the file

_Noreturn void racetrap_die(const char *format, ...) {
    static int is_dying;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text) length = sizeof text - 1;
    if (!raw || is_left) {
        if (write(STDERR_FILENO, text, length) < 0) length = 0;
    } else if (!__atomic_exchange_n(&is_dying, 1, __ATOMIC_RELAXED)) {  // the first error counts
        for (int at = 0; at < length; at++) raw->error[at] = text[at];
    }
    _exit(EXIT_STATUS);
}

void racetrap_open_raw(void) {
    char path[4096];
    const char *folder = getenv("RACETRAP_RAW");
    if (!folder) racetrap_die("Folder of the raw records was not given");
    snprintf(path, sizeof path, "%s/records", folder);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) racetrap_die("File %s cannot be made: %s", path, strerror(errno));
    void *mapped = MAP_FAILED;
    // Sparse, and far larger than what is used; the user's limits may allow less.
    for (raw_bytes = LARGEST_FILE; raw_bytes >= SMALLEST_FILE; raw_bytes /= 2) {
        if (ftruncate(file, raw_bytes) < 0) continue;
        mapped = mmap(NULL, raw_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) break;
    }
    if (mapped == MAP_FAILED)
        racetrap_die("Raw records of the run cannot be mapped: %s", strerror(errno));
    close(file);
    // A page without room on the disk would be a crash when it is written.
    if (madvise(mapped, sizeof *raw, MADV_POPULATE_WRITE) < 0 && errno == EFAULT)
        racetrap_die("Raw records of the run cannot be written: no room in %s", folder);
    madvise(mapped, raw_bytes, MADV_DONTDUMP);
    raw = mapped;
    raw->used = sizeof *raw;
}

void racetrap_close_raw(void) {
    munmap(raw, raw_bytes);
    raw = NULL;
}

void racetrap_leave_raw(void) {
    other = mremap(raw, 0, raw_bytes, MREMAP_MAYMOVE);
    if (other == MAP_FAILED) racetrap_die("Raw records of a child cannot be mapped");
    // Threads that continue meanwhile write records that are discarded.
    if (mmap(raw, raw_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        racetrap_die("Raw records of a child cannot be mapped");
    madvise(raw, raw_bytes, MADV_DONTDUMP);
    is_left = 1;
    other->process = other->status = 0;
}

void racetrap_hand_over_raw(void) {
    // Whatever waits for the end of this process then finds the child.
    for (int i = 0; i < CHILD_MILLISECONDS; i++) {
        if (__atomic_load_n(&other->process, __ATOMIC_ACQUIRE)) break;
        usleep(1000);
    }
    munmap(other, raw_bytes);
}

void racetrap_take_over_raw(void) {
    if (mremap(other, raw_bytes, raw_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, raw) == MAP_FAILED)
        racetrap_die("Raw records of a child cannot be mapped");
    is_left = 0;
    __atomic_store_n(&raw->process, getpid(), __ATOMIC_RELEASE);
}

void racetrap_note_status(int status) {
    if (raw && !is_left && raw->process) raw->status = (status & 0xff) + 1;
}

void racetrap_lose(enum loss loss, uint64_t count) {
    if (raw) __atomic_fetch_add(&raw->lost[loss], count, __ATOMIC_RELAXED);
}

void racetrap_count(uint64_t events) {
    __atomic_fetch_add(&raw->events, events, __ATOMIC_RELAXED);
}

void *racetrap_take(uint64_t bytes) {
    uint64_t offset = __atomic_fetch_add(&raw->used, bytes, __ATOMIC_RELAXED);
    if (offset + bytes > raw_bytes) {
        __atomic_fetch_sub(&raw->used, bytes, __ATOMIC_RELAXED);
        racetrap_die("Raw records of the run must fit in %llu MiB",
                     (unsigned long long)raw_bytes >> 20);
    }
    void *part = (char *)raw + offset;
    if (madvise(part, bytes, MADV_POPULATE_WRITE) < 0 && errno == EFAULT) {
        __atomic_fetch_sub(&raw->used, bytes, __ATOMIC_RELAXED);
        racetrap_die("Raw records of the run cannot be written: no room in their folder");
    }
    return part;
}

void racetrap_fix_addresses(char **arguments, char **environment) {
    environ = environment;  // the C library has not begun yet
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // records are useless once the recorder has ended
    int old = personality(0xffffffff);
    if (!(old & ADDR_NO_RANDOMIZE) && personality(old | ADDR_NO_RANDOMIZE) >= 0 &&
        personality(0xffffffff) & ADDR_NO_RANDOMIZE)
        execv("/proc/self/exe", arguments);
}
