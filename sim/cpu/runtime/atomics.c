// Atomic operations: each is performed and numbered in one step, so that the numbers of the
// operations on a variable follow the order in which they took effect.
#include "atomics.h"

#define STRIPES 1024

static spinlock stripes[STRIPES];

static spinlock *stripe_of(const volatile void *address) {
    // Operations on parts of one 16-byte word must not overlap in time.
    return &stripes[(uint64_t)address / 16 % STRIPES];
}

void racetrap_reset_stripes(void) {
    for (int i = 0; i < STRIPES; i++) stripes[i].taken = 0;
}

static int same(const struct record *one, const struct record *other) {
    return one->tag == other->tag && one->pc == other->pc && one->address == other->address;
}

// Whether two runs of records are the same plain accesses.
static int same_accesses(const struct record *one, const struct record *other, long count) {
    for (long i = 0; i < count; i++)
        if ((one[i].tag > STORE + 1 && one[i].tag != IN_FRAME + 1) || !same(&one[i], &other[i]))
            return 0;
    return 1;
}

// A waiting thread repeats an attempt that fails.  Of equal attempts only the last is kept: it is
// ordered after all that the others were ordered after.  Accesses between two attempts are dropped
// if they equal those between the previous two.
static void collapse(struct record *record, uint64_t value) {
    struct record *before = self.poll.record;
    long period = record - before;
    if (before && self.poll.value == value && same(before, record) && period <= 16 &&
        before - self.records >= period - 2 &&
        same_accesses(before - (period - 2), before + 2, period - 2)) {
        before[1].address = record[1].address;
        self.next = before + 2;
        for (struct record *gone = self.next; gone != record + 2; gone++) gone->word = 0;
        return;
    }
    self.poll.record = record;
    self.poll.value = value;
}

static unsigned order_of(int order) {
    switch (order & 0xff) {  // above lie hints of lock elision
    case __ATOMIC_RELAXED: return RELAXED;
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE: return ORDER_ACQUIRE;
    case __ATOMIC_RELEASE: return ORDER_RELEASE;
    default: return ACQ_REL;
    }
}

// What later fences and attempts need of an operation.
static void remember(unsigned kind, const volatile void *address, unsigned size, unsigned known,
                     int is_failed, uint64_t value) {
    if (!(known & ORDER_ACQUIRE) && kind != ATOMIC_STORE) {
        unsigned place = (uint64_t)address / size % 4;
        self.loaded[place] = (uint64_t)address;
        self.loaded_size[place] = size;
    }
    if (is_failed) collapse(self.next - 2, value);
}

void racetrap_atomic_begin(const volatile void *address) {
    enter_runtime();
    if (self.next == NULL || self.end - self.next < 5) racetrap_grow();  // one for the frame
    racetrap_delay();
    racetrap_lock(stripe_of(address));
}

void racetrap_atomic_end(unsigned kind, const volatile void *address, unsigned size, int order,
                         uint32_t pc, int is_failed, uint64_t value) {
    unsigned known = order_of(order);
    if (kind != ATOMIC_LOAD && self.is_released) known |= ORDER_RELEASE;
    if (kind == ATOMIC_LOAD) known &= ORDER_ACQUIRE;
    if (kind == ATOMIC_STORE) known &= ORDER_RELEASE;
    racetrap_sync(kind, (uint64_t)address, size, known, pc);
    racetrap_unlock(stripe_of(address));
    if (!self.is_ended) remember(kind, address, size, known, is_failed, value);
    leave_runtime();
}

// A release fence turns all later stores into releases, an acquire fence turns the earlier loads of
// up to four variables into acquires.  That is slightly more order than the fences create.
EXPORT void __tsan_atomic_thread_fence(int order) {
    unsigned known = order_of(order);
    if (known & ORDER_RELEASE) self.is_released = 1;
    if (!(known & ORDER_ACQUIRE)) return;
    for (int i = 0; i < 4; i++) {
        if (!self.loaded[i]) continue;
        volatile void *address = (volatile void *)self.loaded[i];
        racetrap_atomic_begin(address);
        racetrap_atomic_end(ATOMIC_LOAD, address, self.loaded_size[i], __ATOMIC_ACQUIRE, CALLER,
                            0, 0);
        self.loaded[i] = 0;
    }
}

EXPORT void __tsan_atomic_signal_fence(int order) { (void)order; }
