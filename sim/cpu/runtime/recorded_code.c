// Code whose calls of library functions are recorded: the program's, and that of shared libraries
// that were compiled to be recorded.  Accesses of other libraries do not count as the program's.
#define _GNU_SOURCE
#include <link.h>

#include "record.h"

#define MOST 256

static struct {
    uint32_t begin, bytes;
} libraries[MOST];
static unsigned count;

static int is_in_library(uint32_t pc) {
    unsigned known = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < known; i++)
        if (pc - libraries[i].begin < libraries[i].bytes) return 1;
    return 0;
}

int racetrap_is_recorded_code(uint32_t pc) {
    return LIKELY(pc < racetrap_counts_end) || is_in_library(pc);
}

static int add_if_it_has(struct dl_phdr_info *module, size_t size, void *place) {
    (void)size;
    uintptr_t pc = (uintptr_t)place;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const __typeof__(*module->dlpi_phdr) *part = &module->dlpi_phdr[i];
        uintptr_t begin = module->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || pc - begin >= part->p_memsz) continue;
        if (count == MOST)
            racetrap_die("Shared libraries that are recorded must have at most %d parts", MOST);
        libraries[count].begin = (uint32_t)begin;
        libraries[count].bytes = (uint32_t)part->p_memsz;
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
        return 1;
    }
    return 0;
}

// Each part of a program and of a library that is compiled to be recorded calls it first.
EXPORT void __tsan_init(void) {
    if (racetrap_is_on && !racetrap_is_recorded_code(CALLER))
        dl_iterate_phdr(add_if_it_has, __builtin_return_address(0));
}
