// Uncached regions: ascending, disjoint.
#include <stdlib.h>

#include "core.h"

#define LARGEST 4096

struct zone core_zone = {1, 0, 0};
static struct zone regions[LARGEST];
static size_t count;

unsigned long core_setting(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 0) : otherwise;
}

// Number of the first region that ends at `address` or behind it.
static size_t find(uintptr_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (regions[middle].last < address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void put(size_t at, struct zone zone) {
    if (count == LARGEST) racetrap_die("Uncached regions must be at most %d", LARGEST);
    for (size_t number = count++; number > at; number--) regions[number] = regions[number - 1];
    regions[at] = zone;
}

static void take(size_t at) {
    count--;
    for (size_t number = at; number < count; number++) regions[number] = regions[number + 1];
}

void zones_set(uintptr_t address, size_t size, int is_uncached) {
    if (!size) return;
    core_zone = (struct zone){1, 0, 0};
    uintptr_t last = address + size - 1;
    size_t at = find(address);
    while (at < count && regions[at].first <= last) {
        struct zone old = regions[at];
        take(at);
        if (old.last > last) put(at, (struct zone){last + 1, old.last, 1});
        if (old.first < address) put(at++, (struct zone){old.first, address - 1, 1});
        if (old.last > last) break;
    }
    if (is_uncached) put(at, (struct zone){address, last, 1});
}

struct zone zone_of(uintptr_t address) {
    size_t at = find(address);
    if (at < count && regions[at].first <= address) return regions[at];
    return (struct zone){
        at ? regions[at - 1].last + 1 : 0,
        at < count ? regions[at].first - 1 : UINTPTR_MAX,
        0,
    };
}
