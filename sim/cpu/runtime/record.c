// Records of threads, each in its parts of the file of records.
#define _GNU_SOURCE
#include "atomics.h"
#include "calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
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
    uint32_t thread, tid;
    uint64_t bytes;
};

__thread struct thread_state self;
int racetrap_is_on;
const uint16_t *racetrap_counts;
uint64_t racetrap_counts_end;
static uint64_t sequence, seed;
static int is_counting;

static struct part *take_part(uint64_t bytes) {
    struct part *part = racetrap_take(bytes);
    *part = (struct part){self.number, self.tid, bytes};
    return part;
}

static void count_part(void) {
    uint64_t events = 0;
    if (!self.records) return;
    for (struct record *record = self.records; record != self.end; record++)
        events += record->tag < FRAME + 1;
    racetrap_count(events);
}

// Has what follows written to no part of the file.
static void leave_records(void) {
    self.is_ended = 1;
    self.next = self.scratch;
    // Each event of a thread that has ended counts; a program that is not recorded loses no time.
    self.end = self.scratch + (racetrap_is_on ? 1 : 2);
}

void racetrap_grow(void) {
    if (self.is_ended || !racetrap_is_on) {
        if (racetrap_is_on) racetrap_lose(EVENTS_AFTER_END, 1);
        leave_records();
        return;
    }
    if (!self.part_bytes)
        racetrap_die("Threads must be made by pthread_create or std::thread: another one ran");
    // A pair of records is never split between parts: the rest of a part is filled up.
    while (self.next != self.end) put(self.next++, FILLER, 0, 0, 0, 0);
    if (is_counting) count_part();
    int error = errno;  // what a library function has left there is the program's
    struct part *part = take_part(self.part_bytes);
    errno = error;
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
    if (self.is_ended) {
        if (racetrap_is_on) racetrap_lose(EVENTS_AFTER_END, 1);
        return;
    }
    enter_runtime();
    if (kind <= ATOMIC_UPDATE) racetrap_note_frame();
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

static void put_of_calls(unsigned kind, uint64_t address, uint32_t pc) {
    if (self.next == self.end) racetrap_grow();
    put(self.next++, kind, 0, address, pc, 0);
}

void racetrap_record_frame(uint32_t caller, uint32_t call, uint32_t function) {
    put_of_calls(FRAME, (uint64_t)caller << 32 | call, function);
}

void racetrap_note_frame(void) {
    if (!(self.unusual & IN_OTHER_FRAME) || self.is_ended) return;
    uint32_t frame = self.unknown_frames ? 0 : self.frame;
    if (frame != self.recorded_frame) put_of_calls(IN_FRAME, 0, frame);
    self.recorded_frame = frame;
    self.unusual &= ~IN_OTHER_FRAME;
}

void racetrap_range(unsigned kind, const volatile void *address, uint64_t size, uint32_t pc) {
    uint64_t at = (uint64_t)address, last = at + size;
    enter_runtime();
    if (self.unusual & OUTSIDE) {
        self.pending += (size + 15) / 16 + count_after(pc);
        at = last;
    } else {
        racetrap_note_frame();
    }
    while (at < last) {
        uint64_t stop = (at | 15) + 1;
        if (stop > last) stop = last;
        if (self.next == self.end) racetrap_grow();
        uint16_t instructions = take_instructions();
        put(self.next++, kind, stop - at, at, pc, instructions);
        self.pending = 0;
        at = stop;
    }
    if (size && !(self.unusual & OUTSIDE)) self.pending = count_after(pc);
    leave_runtime();
}

void racetrap_library_range(unsigned kind, const volatile void *address, uint64_t size,
                            uint32_t pc) {
    if (!racetrap_is_recorded_code(pc)) return;
    if (is_recording()) racetrap_range(kind, address, size, pc);
    else if (racetrap_is_on) racetrap_lose(EVENTS_AFTER_END, 1);
}

void racetrap_begin_thread(int number) {
    if (!racetrap_is_on) return;
    self.number = number;
    self.tid = syscall(SYS_gettid);
    // Seeds of the threads must differ, and the state must not be 0.
    if (seed) self.random = (seed + number) * 0x9e3779b97f4a7c15u | 1;
    self.part_bytes = SMALLEST_PART;
    self.unusual = racetrap_has_regions() ? OUTSIDE : 0;
    racetrap_prepare_calls();
    racetrap_grow();
    racetrap_sync(BEGIN, 0, 0, 0, 0);
}

void racetrap_end_thread(void) {
    racetrap_sync(END, 0, 0, 0, 0);
    self.is_ended = 1;
    self.end = self.next = self.scratch;
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
    // The linker leaves out a library of which it sees the program call only what is ours.
    void *mathematics = found ? NULL : dlopen("libm.so.6", RTLD_LAZY);
    if (mathematics) found = dlsym(mathematics, name);
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
    snprintf(path, sizeof path, "%s/modules", getenv("RACETRAP_RAW"));
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) racetrap_die("File %s cannot be made: %s", path, strerror(errno));
    dl_iterate_phdr(list_module, &file);
    close(file);
}

void racetrap_prepare_threads(void);
void racetrap_watch_forks(int wants_child);

static void begin(int count, char **arguments, char **environment) {
    (void)count;
    environ = environment;  // the C library has not begun yet
    if (!getenv("RACETRAP_RAW")) return;
    racetrap_fix_addresses(arguments, environment);
    racetrap_open_raw();
    racetrap_is_on = 1;
    list_modules();
    unsetenv("RACETRAP_RAW");  // programs that this one starts are not recorded
    racetrap_watch_forks(getenv("RACETRAP_FOLLOW") != NULL);
    const char *text = getenv("RACETRAP_SEED");
    seed = text ? strtoull(text, NULL, 10) : 0;
    is_counting = getenv("RACETRAP_COUNTING") != NULL;
    map_counts();
    racetrap_read_regions(getenv("RACETRAP_ONLY"));
    racetrap_prepare_threads();
    racetrap_prepare_grace();
    racetrap_begin_thread(0);
}

// Before all constructors, those of libraries and of the program alike.
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) =
    begin;
