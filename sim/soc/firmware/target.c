// The machine under the shims: cache-block instructions, the engine's registers, and windows of
// uncached memory.  A device's work is done by the CPU in a mode that bypasses cache and monitor,
// while its engine is idle.
#include "target.h"

#include "../../accelerator/runtime/core.h"

#define ENGINE(name) REGISTER(ENGINE_BASE + ENGINE_##name)
#define CONTROL(name) REGISTER(CONTROL_BASE + CONTROL_##name)

int core_device_depth;
struct zone core_zone;
static struct zone windows[WINDOWS];

size_t core_line_bytes(void) { return CONTROL(LINE_BYTES); }

// Waits until all stores so far have reached their registers: the core may post them.
static void arrive(void) { (void)CONTROL(TAG); }

// From here on operations are those of the program's line, not of this file's: of the call that
// returns to `pc`.
static void begin(uint32_t pc) {
    CONTROL(TAG) = pc - 4;
    arrive();
}

static void end(void) {
    CONTROL(TAG) = 0;
    arrive();
}

// Whether this run does without the maintenance and the waits of the call that returns to `pc`.
static int is_left_out(uint32_t pc) { return REGISTER(LEFT_OUT) == pc - 4; }

static void maintain_line(enum kind kind, uintptr_t line) {
    switch (kind) {
    case CACHE_INVALIDATE: __asm__ volatile(".insn i 0x0f, 2, x0, %0, 0" ::"r"(line) : "memory"); break;
    case CACHE_CLEAN: __asm__ volatile(".insn i 0x0f, 2, x0, %0, 1" ::"r"(line) : "memory"); break;
    default: __asm__ volatile(".insn i 0x0f, 2, x0, %0, 2" ::"r"(line) : "memory");
    }
}

void core_maintain(enum kind kind, uintptr_t address, size_t size, uint32_t pc) {
    if (is_left_out(pc)) return;
    begin(pc);
    // Where no line can be maintained alone, all are flushed; that is all that there is.
    if (!CONTROL(MAINTAINS_LINES)) __asm__ volatile(".word 0x0000500f" ::: "memory");
    else if (kind == INVALIDATE_ALL) __asm__ volatile(".word 0x0000002b" ::: "memory");
    else if (kind == CLEAN_ALL) __asm__ volatile(".word 0x0200002b" ::: "memory");
    else if (kind == FLUSH_ALL) __asm__ volatile(".word 0x0400002b" ::: "memory");
    else
        for (uintptr_t step = core_line_bytes(), line = address & -step; line < address + size; line += step)
            maintain_line(kind, line);
    end();
}

void core_transfer(const struct transfer *transfer, uint32_t pc) {
    while (!(ENGINE(QUIET) & ENGINE_ROOM)) continue;
    int is_one = transfer->rows <= 1;
    ENGINE(ADDRESS) = transfer->memory;
    ENGINE(DEVICE) = transfer->device;
    ENGINE(LENGTH) = transfer->size;
    ENGINE(ROWS) = transfer->rows;
    ENGINE(STRIDE) = is_one ? 0 : transfer->stride;
    ENGINE(DEVICE_STRIDE) = is_one ? 0 : transfer->device_stride;
    begin(pc);
    ENGINE(START) = transfer->kind == DMA_READ ? ENGINE_START_READ : ENGINE_START_WRITE;
    end();
}

void core_run(int engine, void (*work)(void *), const void *argument, size_t size) {
    (void)engine;
    uint64_t copy[16];
    if (size > sizeof copy) racetrap_die("Argument of a device's work is too large");
    __real_memcpy(copy, argument, size);
    while (!(ENGINE(QUIET) & ENGINE_DONE)) continue;
    CONTROL(DEVICE_MODE) = 1;
    arrive();
    core_device_depth++;
    work(copy);
    core_device_depth--;
    CONTROL(DEVICE_MODE) = 0;
    arrive();
}

void core_sync(int engine, uint32_t pc) {
    (void)engine;
    if (is_left_out(pc)) return;
    begin(pc);
    while (!(ENGINE(STATUS) & ENGINE_DONE)) continue;
    end();
}

void core_sync_all(uint32_t pc) { core_sync(0, pc); }

static void set_window(unsigned number, struct zone zone) {
    windows[number] = zone;
    REGISTER(CONTROL_BASE + WINDOWS_AT + 8 * number) = zone.is_uncached ? zone.first : 0;
    REGISTER(CONTROL_BASE + WINDOWS_AT + 8 * number + 4) = zone.is_uncached ? zone.last + 1 : 0;
    arrive();
}

void zones_set(uintptr_t address, size_t size, int is_uncached) {
    if (!size) return;
    for (unsigned number = 0; number < WINDOWS; number++) {
        int is_same = windows[number].is_uncached && windows[number].first == address;
        if (is_uncached ? windows[number].is_uncached : !is_same) continue;
        set_window(number, (struct zone){address, address + size - 1, is_uncached});
        return;
    }
    if (is_uncached) racetrap_die("Windows of uncached memory are used up");
}
