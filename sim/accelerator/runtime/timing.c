// Machine with random timings: a cache that delays write-backs, engines that defer their DMA.
//
// The program's own memory is what the CPU sees.  Main memory is a copy beside it, of the bytes
// that the program or an engine has accessed.  A line that is filled is copied from there, a
// granule that is written back is copied to there, and engines access nothing else.  The hook of
// an access comes before it; what is due after it is done at the next hook.
//
// Only the heap and static data of the program are modelled: the library and the compiler use
// stacks unrecorded.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core.h"

#define PAGE 4096ul
#define SMALLEST_UNIT 4u
#define UNITS (PAGE / SMALLEST_UNIT)
#define PAGES (1u << 16)  // most of them in use
#define SAVED (1u << 20)
#define PENDING 64
#define TOO_LONG 124  // exit status
#define SHOWN 256  // bytes of a program's output
#define COMMANDS (1ul << 30)
#define ONE 65536u  // a probability of 1

extern char __data_start, _end;

struct page {
    uintptr_t number;
    unsigned char memory[PAGE], is_known[PAGE];
    unsigned char is_dirty[UNITS];  // by granule
    uint32_t place[UNITS];          // of a cached line in the list of them, and one
};

// What is due after an access: a store goes to memory, what the cache holds comes back.
struct pending {
    uintptr_t address;
    size_t size;
    int is_store;
    unsigned char *saved;
};

struct command {
    struct command *next;
    struct transfer transfer;
    size_t row, moved;
    void (*work)(void *);
    unsigned char argument[];
};

int core_device_depth;
static int is_modelled, is_write_through;
static size_t line_bytes, granule_bytes;
static uint64_t random_state = 1;
static uint32_t write_back, drop, move, allocate, prefetch, clean_all;
static uint32_t phase_left;  // steps with the same probabilities
static uint64_t steps, step_limit;
static uint64_t *reference_steps;  // shared by all processes
static struct page **pages;
static struct page *known[PAGES];
static uint32_t known_count;
static uintptr_t *lines;
static uint32_t line_count;
static struct pending pending[PENDING];
static unsigned pending_count;
static unsigned char saved[SAVED];
static size_t saved_bytes;
static char *commands;  // not on the heap, whose layout is the program's
static size_t command_bytes;
static struct command *queues[ENGINES], **ends[ENGINES], **insert_at[ENGINES];

size_t core_line_bytes(void) { return line_bytes; }

static uint32_t draw(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 32) * below >> 32);
}

static int happens(uint32_t probability) { return draw(ONE) < probability; }

static void *map(size_t bytes, int sharing) {
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) racetrap_die("Memory of the timing model is used up");
    return mapped;
}

static int is_inside(uintptr_t address) {
    return (address >= HEAP_BEGIN && address < HEAP_END) ||
           (address >= (uintptr_t)&__data_start && address < (uintptr_t)&_end);
}

static struct page *page_of(uintptr_t address) {
    struct page **slot = &pages[address / PAGE];
    if (!*slot) {
        if (known_count == PAGES) racetrap_die("Pages of a program must be at most %u", PAGES);
        *slot = map(sizeof **slot, MAP_PRIVATE);
        (*slot)->number = address / PAGE;
        known[known_count++] = *slot;
    }
    return *slot;
}

static unsigned char *memory_at(uintptr_t address) {
    struct page *page = page_of(address);
    if (!page->is_known[address % PAGE]) {
        page->is_known[address % PAGE] = 1;
        page->memory[address % PAGE] = *(unsigned char *)address;
    }
    return &page->memory[address % PAGE];
}

static uint32_t *line_place(uintptr_t line) {
    return &page_of(line)->place[line % PAGE / line_bytes];
}

static unsigned char *dirty_flag(uintptr_t address) {
    return &page_of(address)->is_dirty[address % PAGE / granule_bytes];
}

static int is_cached(uintptr_t address) { return *line_place(address & -line_bytes) != 0; }

static void copy_known(uintptr_t first, size_t size, int to_memory) {
    struct page *page = page_of(first);
    for (uintptr_t at = first; at < first + size; at++) {
        if (!page->is_known[at % PAGE]) continue;
        if (to_memory) page->memory[at % PAGE] = *(unsigned char *)at;
        else *(unsigned char *)at = page->memory[at % PAGE];
    }
}

static void fill(uintptr_t line) {
    uint32_t *place = line_place(line);
    if (*place) return;
    copy_known(line, line_bytes, 0);
    lines[line_count] = line;
    *place = ++line_count;
}

static void write_back_granule(uintptr_t granule) {
    unsigned char *flag = dirty_flag(granule);
    if (*flag) copy_known(granule, granule_bytes, 1);
    *flag = 0;
}

static void write_back_line(uintptr_t line) {
    for (uintptr_t at = line; at < line + line_bytes; at += granule_bytes) write_back_granule(at);
}

static void drop_line(uintptr_t line) {
    uint32_t *place = line_place(line);
    if (!*place) return;
    uintptr_t moved = lines[--line_count];
    lines[*place - 1] = moved;
    *line_place(moved) = *place;
    *place = 0;
    for (uintptr_t at = line; at < line + line_bytes; at += granule_bytes) *dirty_flag(at) = 0;
}

static int is_clean(uintptr_t line) {
    for (uintptr_t at = line; at < line + line_bytes; at += granule_bytes)
        if (*dirty_flag(at)) return 0;
    return 1;
}

// What is due after the latest access.
static void finish_access(void) {
    for (unsigned number = 0; number < pending_count; number++) {
        struct pending *one = &pending[number];
        for (size_t at = 0; at < one->size; at++) {
            unsigned char *seen = (unsigned char *)one->address + at;
            if (one->is_store) *memory_at(one->address + at) = *seen;
            if (one->saved && is_cached(one->address + at)) *seen = one->saved[at];
        }
    }
    pending_count = 0;
    saved_bytes = 0;
}

static struct pending *add_pending(uintptr_t address, size_t size, int is_store) {
    if (pending_count == PENDING) racetrap_die("Accesses between two hooks must be at most %d", PENDING);
    struct pending *one = &pending[pending_count++];
    *one = (struct pending){address, size, is_store, NULL};
    return one;
}

// Moves some bytes of an engine's oldest command; a device computes in one step.
static void move_some(int engine, size_t most) {
    struct command *command = queues[engine];
    if (command->work) {
        insert_at[engine] = &command->next;
        core_device_depth++;
        command->work(command->argument);
        core_device_depth--;
        insert_at[engine] = NULL;
    } else {
        struct transfer *transfer = &command->transfer;
        while (most-- && command->row < transfer->rows) {
            uintptr_t at = transfer->memory + command->row * transfer->stride + command->moved;
            unsigned char *device = (unsigned char *)transfer->device +
                                    command->row * transfer->device_stride + command->moved;
            unsigned char *memory = is_modelled && is_inside(at) ? memory_at(at) : (unsigned char *)at;
            if (transfer->kind == DMA_READ) *device = *memory;
            else *memory = *device;
            if (++command->moved == transfer->size) {
                command->moved = 0;
                command->row++;
            }
        }
        if (command->row < transfer->rows) return;
    }
    queues[engine] = command->next;
    if (!queues[engine]) ends[engine] = &queues[engine];
}

static void drain(int engine) {
    while (queues[engine]) move_some(engine, SIZE_MAX);
}

// One of the powers of two from 2^-12 to 1, or 0.
static uint32_t any_probability(void) {
    uint32_t shift = draw(14);
    return shift == 13 ? 0 : ONE >> shift;
}

static void begin_phase(void) {
    phase_left = 1u << draw(14);
    write_back = any_probability();
    drop = any_probability();
    move = any_probability() / 4 * 3;  // so that repeated moves come to an end
    allocate = draw(4) ? ONE : any_probability();
    if (core_setting("RACETRAP_PREFETCH", 0)) prefetch = any_probability();
    clean_all = draw(2) ? 0 : ONE >> (4 + draw(10));
}

// What may happen between two operations of the CPU.
static void let_happen(void) {
    // A program that runs on with wrong values may never end.
    if (++steps > step_limit) _exit(TOO_LONG);
    if (!phase_left--) begin_phase();
    while (happens(move)) {
        int start = draw(ENGINES), engine = start;
        while (!queues[engine] && (engine = (engine + 1) % ENGINES) != start) continue;
        if (!queues[engine]) break;
        move_some(engine, 1 + draw(256));
    }
    if (line_count && happens(write_back)) {
        uintptr_t line = lines[draw(line_count)];
        write_back_granule(line + draw(line_bytes / granule_bytes) * granule_bytes);
    }
    if (line_count && happens(drop)) {
        uintptr_t line = lines[draw(line_count)];
        if (is_clean(line)) drop_line(line);
    }
    if (known_count && happens(prefetch))
        fill(known[draw(known_count)]->number * PAGE + draw(PAGE / line_bytes) * line_bytes);
    if (happens(clean_all))
        for (uint32_t number = line_count; number-- > 0;) {
            uintptr_t line = lines[number];
            write_back_line(line);
            if (draw(2)) drop_line(line);
        }
}

static void access_cached(uintptr_t first, uintptr_t last, int is_write) {
    for (uintptr_t line = first & -line_bytes; line <= last; line += line_bytes) {
        uintptr_t low = line > first ? line : first;
        uintptr_t high = line + line_bytes - 1 < last ? line + line_bytes - 1 : last;
        for (uintptr_t at = low; at <= high; at++) memory_at(at);
        int is_miss = is_write && !is_cached(line) && !happens(allocate);
        if (is_miss || (is_write && is_write_through)) add_pending(low, high - low + 1, 1);
        if (is_miss) continue;
        fill(line);
        if (is_write && !is_write_through)
            for (uintptr_t at = low & -granule_bytes; at <= high; at += granule_bytes)
                *dirty_flag(at) = 1;
    }
}

static void access_uncached(uintptr_t address, size_t size, int is_write) {
    struct pending *one = add_pending(address, size, is_write);
    if (size > SAVED - saved_bytes) racetrap_die("Uncached accesses must be of at most 1 MiB");
    one->saved = saved + saved_bytes;
    saved_bytes += size;
    __real_memcpy(one->saved, (void *)address, size);
    for (size_t at = 0; at < size; at++)
        *(unsigned char *)(address + at) = *memory_at(address + at);
}

static void do_access(int is_write, uintptr_t address, size_t size) {
    if (!is_inside(address)) return;
    if (is_uncached(address)) access_uncached(address, size, is_write);
    else access_cached(address, address + size - 1, is_write);
}

void core_access(int is_write, uintptr_t address, size_t size, uint32_t pc) {
    (void)pc;
    if (core_device_depth) return;
    if (!is_modelled) {
        ++*reference_steps;
        return;
    }
    finish_access();
    let_happen();
    do_access(is_write, address, size);
}

void core_access_too(int is_write, uintptr_t address, size_t size, uint32_t pc) {
    (void)pc;
    if (is_modelled && !core_device_depth) do_access(is_write, address, size);
}

void core_atomic_begin(uintptr_t address) { core_access(0, address & -16ul, 16, 0); }

void core_atomic_end(int is_read, int is_write, uintptr_t address, size_t size, uint32_t pc) {
    (void)is_read, (void)pc;
    if (!is_modelled || core_device_depth || !is_write || !is_inside(address)) return;
    if (is_uncached(address)) add_pending(address, size, 1);
    else access_cached(address, address + size - 1, 1);
}

void core_maintain(enum kind kind, uintptr_t address, size_t size, uint32_t pc) {
    (void)pc;
    if (!is_modelled) return;
    finish_access();
    let_happen();
    int is_all = kind >= FLUSH_ALL;
    enum kind what = is_all ? kind - FLUSH_ALL + CACHE_FLUSH : kind;
    uintptr_t first = address & -line_bytes, last = address + size - 1;
    for (uint32_t number = line_count; number-- > 0;) {
        uintptr_t line = lines[number];
        if (!is_all && (line < first || line > last)) continue;
        if (what != CACHE_INVALIDATE) write_back_line(line);
        if (what != CACHE_CLEAN) drop_line(line);
    }
}

// Puts a command at the end of a queue, or behind what the device is working on.
static void append(int engine, struct command *command) {
    if (!queues[engine]) ends[engine] = &queues[engine];
    struct command **place = insert_at[engine] ? insert_at[engine] : ends[engine];
    command->next = *place;
    *place = command;
    if (place == ends[engine]) ends[engine] = &command->next;
    if (insert_at[engine]) insert_at[engine] = &command->next;
}

static struct command *new_command(size_t argument_bytes) {
    struct command *command = (struct command *)(commands + command_bytes);
    command_bytes += (sizeof *command + argument_bytes + 15) & -16ul;
    if (command_bytes > COMMANDS) racetrap_die("Commands of a program must fit in %lu MiB", COMMANDS >> 20);
    return command;
}

void core_transfer(const struct transfer *transfer, uint32_t pc) {
    (void)pc;
    if (!core_device_depth) {
        finish_access();
        if (is_modelled) let_happen();
    }
    struct command *command = new_command(0);
    command->transfer = *transfer;
    append(transfer->engine, command);
    if (!is_modelled && !core_device_depth) drain(transfer->engine);
}

void core_run(int engine, void (*work)(void *), const void *argument, size_t size) {
    struct command *command = new_command(size);
    command->work = work;
    __real_memcpy(command->argument, argument, size);
    append(engine, command);
    if (!is_modelled && !core_device_depth) drain(engine);
}

void core_sync(int engine, uint32_t pc) {
    (void)pc;
    finish_access();
    drain(engine);
}

void core_sync_all(uint32_t pc) {
    for (int engine = 0; engine < ENGINES; engine++) core_sync(engine, pc);
}

static void model(uint64_t seed) {
    random_state = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
    for (int warm_up = 0; warm_up < 8; warm_up++) draw(2);
    step_limit = 20 * *reference_steps + 100000;
    is_modelled = 1;
}

// One line: the seed, the exit status or minus a signal, a hash of the output, and its beginning.
static void give_result(int results, uint64_t seed, int from, pid_t child) {
    static unsigned char piece[PAGE];
    char line[2 * SHOWN + 80];
    unsigned char shown[SHOWN];
    size_t total = 0;
    uint64_t hash = 0xcbf29ce484222325u;
    for (ssize_t count; (count = read(from, piece, sizeof piece)) > 0;)
        for (ssize_t at = 0; at < count; at++, total++) {
            hash = (hash ^ piece[at]) * 0x100000001b3u;
            if (total < SHOWN) shown[total] = piece[at];
        }
    close(from);
    int status;
    waitpid(child, &status, 0);
    status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    int length = sprintf(line, "%lu %d %016lx ", seed, status, hash);
    for (size_t at = 0; at < total && at < SHOWN; at++)
        length += sprintf(line + length, "%02x", shown[at]);
    line[length++] = '\n';
    if (write(results, line, length) != length) racetrap_die("Results cannot be written");
}

// No stream is opened: its buffer would move the program's heap.  Every seed is tried in a process of its own; seed 0 is the machine in which nothing is deferred.
__attribute__((constructor(101))) static void try_seeds(void) {
    line_bytes = core_setting("RACETRAP_LINE", 32);
    granule_bytes = core_setting("RACETRAP_GRANULE", 32);
    is_write_through = core_setting("RACETRAP_WRITE_THROUGH", 0);
    if (granule_bytes < SMALLEST_UNIT)
        racetrap_die("Granule must be at least %u bytes, not %zu", SMALLEST_UNIT, granule_bytes);
    pages = map((HEAP_END / PAGE) * sizeof *pages, MAP_PRIVATE);
    lines = map(PAGES * UNITS * sizeof *lines, MAP_PRIVATE);
    commands = map(COMMANDS, MAP_PRIVATE);
    reference_steps = map(sizeof *reference_steps, MAP_SHARED);
    const char *path = getenv("RACETRAP_RESULTS");
    int results = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (results < 0) racetrap_die("File of the results cannot be made");
    uint64_t first = core_setting("RACETRAP_SEED", 1), count = core_setting("RACETRAP_TIMINGS", 1);
    for (uint64_t at = 0; at <= count; at++) {
        uint64_t seed = at ? first + at - 1 : 0;
        int channel[2];
        if (pipe(channel) < 0) racetrap_die("Pipe cannot be made");
        pid_t child = fork();
        if (child < 0) racetrap_die("Process cannot be made");
        if (!child) {
            close(results);
            dup2(channel[1], STDOUT_FILENO);
            close(channel[0]);
            close(channel[1]);
            alarm(core_setting("RACETRAP_SECONDS", 10));
            if (at) model(seed);
            return;
        }
        close(channel[1]);
        give_result(results, seed, channel[0], child);
    }
    _exit(0);
}

static void begin(int count, char **arguments, char **environment) {
    (void)count;
    racetrap_fix_addresses(arguments, environment);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) =
    begin;
