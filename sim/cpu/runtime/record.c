// Files of records: one a thread, grown and mapped part by part.
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK_RECORDS (1 << 18)
#define CHUNK_BYTES (CHUNK_RECORDS * sizeof(struct record))
#define EXIT_STATUS 97

__thread struct thread_state self;
const uint16_t *racetrap_counts;
uint64_t racetrap_counts_end;
static const char *folder;
static uint64_t sequence, seed;

_Noreturn void racetrap_die(const char *format, ...) {
    char text[512], path[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *raw = getenv("RACETRAP_RAW");
    snprintf(path, sizeof path, "%s/error", raw ? raw : "/nowhere");
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);  // the first error counts
    if (write(file < 0 ? STDERR_FILENO : file, text, length) < 0) length = 0;
    _exit(EXIT_STATUS);
}

static void open_thread(int number) {
    char path[4096];
    snprintf(path, sizeof path, "%s/thread.%d", folder, number);
    self.file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (self.file < 0) racetrap_die("File %s cannot be made: %s", path, strerror(errno));
}

void racetrap_grow(void) {
    if (self.is_ended) {
        self.next = self.scratch;
        self.end = self.scratch + 2;
        return;
    }
    if (self.file == 0)
        racetrap_die("Threads must be made by pthread_create or std::thread: another one ran");
    if (self.chunk) {
        // A pair of records is never torn apart: what is left over is filled up.
        while (self.next != self.end) put(self.next++, FILLER, 0, 0, 0, 0);
        munmap(self.chunk, CHUNK_BYTES);
        self.chunks++;
    }
    off_t offset = self.chunks * CHUNK_BYTES;
    // Room on the disk is taken now: a mapped page without it would be a crash.
    int error = posix_fallocate(self.file, offset, CHUNK_BYTES);
    if (error) racetrap_die("Raw records of the run cannot be written: %s", strerror(error));
    self.chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, self.file, offset);
    if (self.chunk == MAP_FAILED)
        racetrap_die("Raw records of the run cannot be mapped: %s", strerror(errno));
    self.next = self.chunk;
    self.end = self.chunk + CHUNK_RECORDS;
    self.poll.record = NULL;
}

uint16_t racetrap_fill(void) {
    put(self.next++, FILLER, 0, self.pending, 0, 0);
    if (self.next == self.end) racetrap_grow();
    self.pending = 0;
    return 1;
}

uint64_t racetrap_sequence(void) { return __atomic_add_fetch(&sequence, 1, __ATOMIC_SEQ_CST); }

void racetrap_sync(unsigned kind, uint64_t address, unsigned size, uint32_t value, uint32_t pc) {
    if (self.is_ended) return;
    if (self.end - self.next < 4) racetrap_grow();  // room for a filler, too
    uint16_t instructions = take_instructions();
    uint64_t number = racetrap_sequence();
    struct record *record = self.next;
    put(record, kind, size, address, pc, instructions);
    put(record + 1, EXTENSION, 0, number, value, 0);
    self.next = record + 2;
    self.pending = count_after(pc);
}

void racetrap_mark(unsigned kind, uint32_t pc) {
    if (self.end - self.next < 2) racetrap_grow();
    uint16_t instructions = take_instructions();
    put(self.next++, kind, 0, 0, pc, instructions);
    self.pending = count_after(pc);
}

void racetrap_range(unsigned kind, const volatile void *address, uint64_t size, uint32_t pc) {
    uint64_t at = (uint64_t)address, last = at + size;
    while (at < last) {
        uint64_t stop = (at | 15) + 1;
        if (stop > last) stop = last;
        if (self.next == self.end) racetrap_grow();
        uint16_t instructions = take_instructions();
        put(self.next++, kind, stop - at, at, pc, instructions);
        self.pending = 0;
        at = stop;
    }
    if (size) self.pending = count_after(pc);
}

void racetrap_begin_thread(int number) {
    self.number = number;
    self.tid = syscall(SYS_gettid);
    // Seeds of the threads must differ, and the state must not be 0.
    if (seed) self.random = (seed + number) * 0x9e3779b97f4a7c15u | 1;
    open_thread(number);
    racetrap_grow();
    racetrap_sync(BEGIN, 0, 0, 0, 0);
}

void racetrap_end_thread(void) {
    racetrap_sync(END, 0, 0, 0, 0);
    self.is_ended = 1;
    off_t size = self.chunks * CHUNK_BYTES + (self.next - self.chunk) * sizeof *self.chunk;
    munmap(self.chunk, CHUNK_BYTES);
    if (ftruncate(self.file, size) < 0) racetrap_die("Raw records cannot be cut to their size");
    close(self.file);
    racetrap_grow();
}

void racetrap_delay(void) {
    if (!self.random) return;
    self.random ^= self.random << 13;
    self.random ^= self.random >> 7;
    self.random ^= self.random << 17;
    if ((self.random & 7) == 0) sched_yield();
}

void racetrap_lock(spinlock *lock) {
    while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

void racetrap_unlock(spinlock *lock) { __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE); }

void *racetrap_real(const char *name, const char *version) {
    void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    if (!found) found = dlsym(RTLD_NEXT, name);
    if (!found) racetrap_die("Function %s was not found in the C library", name);
    return found;
}

static void map_counts(void) {
    const char *path = getenv("RACETRAP_COUNTS");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0)
        racetrap_die("Instruction counts of the program were not found");
    racetrap_counts = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (racetrap_counts == MAP_FAILED) racetrap_die("Instruction counts cannot be mapped");
    racetrap_counts_end = status.st_size / sizeof *racetrap_counts;
    close(file);
}

void racetrap_prepare_threads(void);

static void begin(int count, char **arguments, char **environment) {
    (void)count;
    environ = environment;  // the C library has not begun yet
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody wants the records if the recorder has gone
    // Equal runs have equal addresses.  Where that is forbidden the stack's and libraries' move.
    int old = personality(0xffffffff);
    if (!(old & ADDR_NO_RANDOMIZE) && personality(old | ADDR_NO_RANDOMIZE) >= 0 &&
        personality(0xffffffff) & ADDR_NO_RANDOMIZE)
        execv("/proc/self/exe", arguments);
    folder = getenv("RACETRAP_RAW");
    if (!folder) racetrap_die("Folder of the raw records was not given");
    const char *text = getenv("RACETRAP_SEED");
    seed = text ? strtoull(text, NULL, 10) : 0;
    map_counts();
    racetrap_prepare_threads();
    racetrap_begin_thread(0);
}

// Before all constructors, those of libraries and of the program alike.
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) =
    begin;
