// Software of the bus monitor: its registers, and the ring of its reports.
#include "target.h"

#include <racetrap_monitor.h>
#include <stdio.h>

#include "rules.h"

#define MONITOR(name) REGISTER(MONITOR_BASE + MONITOR_##name)
#define FIELD(record, name) field(record, RECORD_##name##_AT, RECORD_##name##_BITS)
#define PRINT_HIT(record, half) print_hit(record, half##_RULES[FIELD(record, ROW_KIND)], \
    FIELD(record, half##_DEFINITE), FIELD(record, half##_TAG))

enum { RECORDS_LOG2 = 6, RECORDS = 1 << RECORDS_LOG2, WORDS = RECORD_BYTES / 4 };
static volatile uint32_t ring[RECORDS][WORDS] __attribute__((aligned(RECORD_BYTES)));

// The low 32 bits of a field.
static uint32_t field(const volatile uint32_t *record, unsigned at, unsigned bits) {
    uint32_t value = record[at / 32] >> at % 32;
    if (at % 32 + bits > 32 && at % 32) value |= record[at / 32 + 1] << (32 - at % 32);
    return bits < 32 ? value & ((1u << bits) - 1) : value;
}

static void wait_until_idle(void) {
    while (!(MONITOR(STATUS) & MONITOR_STATUS_IDLE)) continue;
}

void racetrap_monitor_start(void) {
    wait_until_idle();
    MONITOR(REPORT_BASE_LO) = (uint32_t)ring;
    MONITOR(REPORT_BASE_HI) = 0;
    MONITOR(REPORT_CAPACITY_LOG2) = RECORDS_LOG2;
    MONITOR(REPORT_TAIL) = MONITOR(REPORT_HEAD);
    MONITOR(CONTROL) = MONITOR_CONTROL_ENABLE | MONITOR_CONTROL_CLEAR | MONITOR_CONTROL_CLEAR_COUNTERS;
}

static void print_hit(const volatile uint32_t *record, const char *rule, uint32_t is_definite, uint32_t tag) {
    printf("monitor: rule %s, %s, bytes %08x to %08x, pc %x and later %x\n", rule,
           is_definite ? "definite" : "possible", FIELD(record, ROW_FIRST), FIELD(record, ROW_END) - 1, tag,
           FIELD(record, ROW_TAG));
}

unsigned racetrap_monitor_print(void) {
    unsigned count = 0;
    wait_until_idle();
    for (uint32_t tail = MONITOR(REPORT_TAIL); tail != MONITOR(REPORT_HEAD); MONITOR(REPORT_TAIL) = ++tail) {
        const volatile uint32_t *record = ring[tail % RECORDS];
        if (FIELD(record, DMA_FOUND)) PRINT_HIT(record, DMA), count++;
        if (FIELD(record, CACHE_FOUND)) PRINT_HIT(record, CACHE), count++;
    }
    printf("monitor: %u reports, %u records dropped\n", count, MONITOR(REPORTS_DROPPED));
    return count;
}
