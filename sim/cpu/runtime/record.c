// The file of records: mapped once, before the program begins, and divided into parts of threads.
//
// No descriptor is kept: the program may close every number, open its own files in their places,
// change its root or its limits.
#define _GNU_SOURCE
#include "atomics.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LARGEST_FILE (1ull << 38)
#define SMALLEST_FILE (1ull << 26)
#define SMALLEST_PART (1ull << 16)
#define LARGEST_PART (1ull << 22)  // a thread's parts double up to this size
#define EXIT_STATUS 97
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// Start of the file; racetrap.sim.cpu.raw knows it, too.
struct raw_file {
    uint64_t used;     // bytes given to threads, this page included
    uint64_t events;   // in full parts, if somebody waits for a number of them
    char error[4080];  // why recording ended early
};

// Start of a part; records follow.
struct part {
    uint64_t thread, bytes;
};

__thread struct thread_state self;
int racetrap_is_on;
const uint16_t *racetrap_counts;
uint64_t racetrap_counts_end;
static struct raw_file *raw;
static uint64_t raw_bytes;
static uint64_t sequence, seed;
static int is_counting;

// The C library's own: the names without a prefix are recorded.
int __real_vsnprintf(char *to, size_t size, const char *format, va_list arguments);
int __real_snprintf(char *to, size_t size, const char *format, ...);

_Noreturn void racetrap_die(const char *format, ...) {
    static int is_dying;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = __real_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text) length = sizeof text - 1;
    if (!raw) {
        if (write(STDERR_FILENO, text, length) < 0) length = 0;
    } else if (!__atomic_exchange_n(&is_dying, 1, __ATOMIC_RELAXED)) {  // the first error counts
        for (int at = 0; at < length; at++) raw->error[at] = text[at];
    }
    _exit(EXIT_STATUS);
}

static void map_raw_file(void) {
    char path[4096];
    const char *folder = getenv("RACETRAP_RAW");
    __real_snprintf(path, sizeof path, "%s/records", folder);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) racetrap_die("File %s cannot be made: %s", path, strerror(errno));
    void *mapped = MAP_FAILED;
    // Sparse, and far larger than what is used; limits of the user's may ask for less.
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

static struct part *take_part(uint64_t bytes) {
    uint64_t offset = __atomic_fetch_add(&raw->used, bytes, __ATOMIC_RELAXED);
    if (offset + bytes > raw_bytes) {
        __atomic_fetch_sub(&raw->used, bytes, __ATOMIC_RELAXED);
        racetrap_die("Raw records of the run must fit in %llu MiB",
                     (unsigned long long)raw_bytes >> 20);
    }
    struct part *part = (struct part *)((char *)raw + offset);
    if (madvise(part, bytes, MADV_POPULATE_WRITE) < 0 && errno == EFAULT) {
        __atomic_fetch_sub(&raw->used, bytes, __ATOMIC_RELAXED);
        racetrap_die("Raw records of the run cannot be written: no room in their folder");
    }
    *part = (struct part){self.number, bytes};
    return part;
}

static void count_part(void) {
    uint64_t events = 0;
    if (!self.records) return;
    for (struct record *record = self.records; record != self.end; record++)
        events += record->tag < EXTENSION + 1;
    __atomic_fetch_add(&raw->events, events, __ATOMIC_RELAXED);
}

void racetrap_grow(void) {
    if (self.is_ended || !racetrap_is_on) {
        self.is_ended = 1;
        self.next = self.scratch;
        self.end = self.scratch + 2;
        return;
    }
    if (!self.part_bytes)
        racetrap_die("Threads must be made by pthread_create or std::thread: another one ran");
    // A pair of records is never torn apart: what is left over is filled up.
    while (self.next != self.end) put(self.next++, FILLER, 0, 0, 0, 0);
    if (is_counting) count_part();
    struct part *part = take_part(self.part_bytes);
    self.records = (struct record *)(part + 1);
    self.next = self.records;
    self.end = (struct record *)((char *)part + self.part_bytes);
    if (self.part_bytes < LARGEST_PART && !is_counting) self.part_bytes *= 2;
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
    enter_runtime();
    if (self.end - self.next < 4) racetrap_grow();  // room for a filler, too
    uint16_t instructions = take_instructions();
    uint64_t number = racetrap_sequence();
    struct record *record = self.next;
    put(record, kind, size, address, pc, instructions);
    put(record + 1, EXTENSION, 0, number, value, 0);
    self.next = record + 2;
    self.pending = count_after(pc);
    leave_runtime();
}

void racetrap_mark(unsigned kind, uint32_t pc) {
    enter_runtime();
    if (self.end - self.next < 2) racetrap_grow();
    uint16_t instructions = take_instructions();
    put(self.next++, kind, 0, 0, pc, instructions);
    self.pending = count_after(pc);
    leave_runtime();
}

void racetrap_range(unsigned kind, const volatile void *address, uint64_t size, uint32_t pc) {
    uint64_t at = (uint64_t)address, last = at + size;
    enter_runtime();
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
    leave_runtime();
}

void racetrap_begin_thread(int number) {
    if (!racetrap_is_on) return;
    self.number = number;
    self.tid = syscall(SYS_gettid);
    // Seeds of the threads must differ, and the state must not be 0.
    if (seed) self.random = (seed + number) * 0x9e3779b97f4a7c15u | 1;
    self.part_bytes = SMALLEST_PART;
    racetrap_grow();
    racetrap_sync(BEGIN, 0, 0, 0, 0);
}

void racetrap_end_thread(void) {
    racetrap_sync(END, 0, 0, 0, 0);
    self.is_ended = 1;
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
    enter_runtime();  // a handler that waits for it would wait for its own thread
    while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

void racetrap_unlock(spinlock *lock) {
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
    leave_runtime();
}

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

// Shared libraries that the loader has put into memory: begin, end and path of each.
static int list_module(struct dl_phdr_info *module, size_t size, void *file) {
    (void)size;
    uint64_t last = 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const __typeof__(*module->dlpi_phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_vaddr + part->p_memsz > last)
            last = part->p_vaddr + part->p_memsz;
    }
    if (*module->dlpi_name && module->dlpi_addr)
        dprintf(*(int *)file, "%llx %llx %s\n", (unsigned long long)module->dlpi_addr,
                (unsigned long long)(module->dlpi_addr + last), module->dlpi_name);
    return 0;
}

static void list_modules(void) {
    char path[4096];
    __real_snprintf(path, sizeof path, "%s/modules", getenv("RACETRAP_RAW"));
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) racetrap_die("File %s cannot be made: %s", path, strerror(errno));
    dl_iterate_phdr(list_module, &file);
    close(file);
}

void racetrap_prepare_threads(void);

// A process that the program makes is not recorded: the records are its parent's.
static void leave_parent(void) {
    racetrap_is_on = 0;
    racetrap_unlock_heap();
    racetrap_reset_stripes();  // their holders are threads of the parent
    racetrap_grow();
    self.depth = 0;
    munmap(raw, raw_bytes);
    raw = NULL;
}

// What pthread_atfork() calls: that one is not in the shared C library.
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library);

static void begin(int count, char **arguments, char **environment) {
    (void)count;
    environ = environment;  // the C library has not begun yet
    if (!getenv("RACETRAP_RAW")) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody wants the records if the recorder has gone
    // Equal runs have equal addresses.  Where that is forbidden the stack's and libraries' move.
    int old = personality(0xffffffff);
    if (!(old & ADDR_NO_RANDOMIZE) && personality(old | ADDR_NO_RANDOMIZE) >= 0 &&
        personality(0xffffffff) & ADDR_NO_RANDOMIZE)
        execv("/proc/self/exe", arguments);
    map_raw_file();
    racetrap_is_on = 1;
    list_modules();
    unsetenv("RACETRAP_RAW");  // programs that this one starts are not recorded
    __register_atfork(racetrap_lock_heap, racetrap_unlock_heap, leave_parent, NULL);
    const char *text = getenv("RACETRAP_SEED");
    seed = text ? strtoull(text, NULL, 10) : 0;
    is_counting = getenv("RACETRAP_COUNTING") != NULL;
    map_counts();
    racetrap_prepare_threads();
    racetrap_begin_thread(0);
}

// Before all constructors, those of libraries and of the program alike.
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) =
    begin;
