// Functions in whose calls alone accesses are recorded.
#include "regions.h"

#include <stdlib.h>

#define MOST 256

static struct {
    uint32_t begin, end;
} regions[MOST];
static unsigned count;

void racetrap_read_regions(const char *text) {
    while (text && *text) {
        if (count == MOST)
            racetrap_die("Functions of --only must be at most %d with all their forms", MOST);
        char *rest;
        regions[count].begin = strtoul(text, &rest, 16);
        regions[count++].end = strtoul(rest + 1, &rest, 16);
        text = rest + (*rest == ',');
    }
}

int racetrap_has_regions(void) { return count != 0; }

int racetrap_is_in_region(uint32_t pc) {
    for (unsigned i = 0; i < count; i++)
        // The address behind a call that does not return may be that of the next function.
        if (pc > regions[i].begin && pc <= regions[i].end) return 1;
    return 0;
}
