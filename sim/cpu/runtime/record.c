// Records of threads, each in its parts of the file of records.
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SMALLEST_PART (1ull << 16)
#define LARGEST_PART (1ull << 22)  // a thread's parts double up to this size

// Start of a part; records follow.
struct part {
    uint64_t thread, bytes;
};

__thread struct thread_state self;
const uint16_t *racetrap_counts;
uint64_t racetrap_counts_end;
static uint64_t sequence, seed;

static struct part *take_part(uint64_t bytes) {
    struct part *part = racetrap_take(bytes);
    *part = (struct part){self.number, bytes};
    return part;
}

void racetrap_grow(void) {
    if (self.is_ended) {
        self.next = self.scratch;
        self.end = self.scratch + 2;
        return;
    }
    if (!self.part_bytes)
        racetrap_die("Threads must be made by pthread_create or std::thread: another one ran");
    // A pair of records is never torn apart: what is left over is filled up.
    while (self.next != self.end) put(self.next++, FILLER, 0, 0, 0, 0);
    struct part *part = take_part(self.part_bytes);
    self.records = (struct record *)(part + 1);
    self.next = self.records;
    self.end = (struct record *)((char *)part + self.part_bytes);
    if (self.part_bytes < LARGEST_PART) self.part_bytes *= 2;
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
    racetrap_fix_addresses(arguments, environment);
    racetrap_open_raw();
    const char *text = getenv("RACETRAP_SEED");
    seed = text ? strtoull(text, NULL, 10) : 0;
    map_counts();
    racetrap_prepare_threads();
    racetrap_begin_thread(0);
}

// Before all constructors, those of libraries and of the program alike.
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) =
    begin;
