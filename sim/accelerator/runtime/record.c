// Recorder: what the program does becomes records of a trace, as it happens; DMA is done at once.
//
// Accesses from one place of the program to neighbouring bytes become one record.  A few such
// runs are open at a time; they lie in the file, too, so that no ending of the program loses
// them.  Open runs never share a line, unless both are reads: so their order does not matter.

#include "core.h"

#define OPEN_RUNS 4
#define PART (341ul * 12288)  // whole pages, and whole records

// An operation as in racetrap.golden_model.trace.noncoherent.schema.
struct record {
    uint64_t address;
    uint32_t size, stride, pc;
    uint16_t rows;
    uint8_t kind, engine;
};

struct run {
    uint64_t first, last;
    uint32_t pc;
    uint16_t kind, is_open;
};

// The first page behind the header; racetrap.sim.accelerator.recorder knows it, too.
static struct open_runs {
    struct run runs[OPEN_RUNS];
    uint64_t oldest;  // number of the run that was opened first
} *open;

int core_device_depth;
static struct record *next, *end;
static uint64_t line_mask;

size_t core_line_bytes(void) { return line_mask + 1; }

static void put(struct record record) {
    if (!LIKELY(next != end)) {
        next = racetrap_take(PART);
        end = next + PART / sizeof *next;
    }
    *next++ = record;
}

static void close_run(struct run *run) {
    uint64_t first = run->first, left = run->last - first + 1;
    for (; left > UINT32_MAX; first += 1u << 31, left -= 1u << 31)
        put((struct record){first, 1u << 31, 0, run->pc, 0, (uint8_t)run->kind, 0});
    put((struct record){first, (uint32_t)left, 0, run->pc, 0, (uint8_t)run->kind, 0});
    run->is_open = 0;
}

static void close_all(void) {
    for (unsigned count = 0; count < OPEN_RUNS; count++) {
        struct run *run = &open->runs[(open->oldest + count) % OPEN_RUNS];
        if (run->is_open) close_run(run);
    }
}

static void add(uint16_t kind, uintptr_t first, uintptr_t last, uint32_t pc) {
    uint64_t low = first & ~line_mask, high = last | line_mask;
    struct run *own = NULL;
    for (unsigned count = 0; count < OPEN_RUNS; count++) {
        struct run *run = &open->runs[(open->oldest + count) % OPEN_RUNS];
        if (!run->is_open) continue;
        if (run->pc == pc && run->kind == kind && first <= run->last + 1 &&
            last + 1 >= run->first)
            own = run;
        else if ((run->first & ~line_mask) <= high && (run->last | line_mask) >= low &&
                 (kind != run->kind || kind == CACHED_WRITE || kind == UNCACHED_WRITE))
            close_run(run);
    }
    if (own) {
        if (first < own->first) own->first = first;
        if (last > own->last) own->last = last;
        return;
    }
    struct run *run = &open->runs[open->oldest];
    if (run->is_open) close_run(run);
    *run = (struct run){first, last, pc, kind, 1};
    open->oldest = (open->oldest + 1) % OPEN_RUNS;
}

void core_access(int is_write, uintptr_t address, size_t size, uint32_t pc) {
    if (core_device_depth) return;
    int kind = (is_uncached(address) ? UNCACHED_READ : CACHED_READ) + is_write;
    add(kind, address, address + size - 1, pc);
}

void core_access_too(int is_write, uintptr_t address, size_t size, uint32_t pc) {
    core_access(is_write, address, size, pc);
}

void core_atomic_begin(uintptr_t address) { (void)address; }

void core_atomic_end(int is_read, int is_write, uintptr_t address, size_t size, uint32_t pc) {
    if (is_read) core_access(0, address, size, pc);
    if (is_write) core_access(1, address, size, pc);
}

void core_maintain(enum kind kind, uintptr_t address, size_t size, uint32_t pc) {
    close_all();
    for (; size > UINT32_MAX; address += 1u << 31, size -= 1u << 31)
        put((struct record){address, 1u << 31, 0, pc, 0, kind, 0});
    if (size || kind >= FLUSH_ALL) put((struct record){address, size, 0, pc, 0, kind, 0});
}

void core_transfer(const struct transfer *transfer, uint32_t pc) {
    close_all();
    int is_plane = transfer->rows > 1;
    if (transfer->rows > UINT16_MAX || transfer->size > UINT32_MAX || transfer->stride > UINT32_MAX)
        racetrap_die("DMA must be of at most 65535 rows of less than 4 GiB");
    put((struct record){transfer->memory, transfer->size, is_plane ? transfer->stride : 0, pc,
                        is_plane ? transfer->rows : 0, transfer->kind, transfer->engine});
    for (size_t row = 0; row < transfer->rows; row++) {
        void *memory = (void *)(transfer->memory + row * transfer->stride);
        void *device = (void *)(transfer->device + row * transfer->device_stride);
        if (transfer->kind == DMA_READ) __real_memcpy(device, memory, transfer->size);
        else __real_memcpy(memory, device, transfer->size);
    }
}

void core_run(int engine, void (*work)(void *), const void *argument, size_t size) {
    (void)engine;
    char copy[size + 1];
    __real_memcpy(copy, argument, size);
    core_device_depth++;
    work(copy);
    core_device_depth--;
}

void core_sync(int engine, uint32_t pc) {
    close_all();
    put((struct record){0, 0, 0, pc, 0, SYNC, engine});
}

void core_sync_all(uint32_t pc) {
    close_all();
    put((struct record){0, 0, 0, pc, 0, SYNC_ALL, 0});
}

static void begin(int count, char **arguments, char **environment) {
    (void)count;
    racetrap_fix_addresses(arguments, environment);
    racetrap_open_raw();
    line_mask = core_setting("RACETRAP_LINE", 64) - 1;
    open = racetrap_take(4096);
}

// Before all constructors, those of libraries and of the program alike.
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) =
    begin;
