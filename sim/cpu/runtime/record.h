// Raw records of one thread's events, in its parts of a file that is mapped into memory, and how
// the runtime appends to them.  recorder and runtime share the layout (racetrap.sim.cpu.raw).
#ifndef RECORD_H
#define RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "raw_file.h"

// Kinds of events, as in racetrap.golden_model.trace.threads.events.
enum kind {
    LOAD, STORE, ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_UPDATE, ACQUIRE, RELEASE, BARRIER_ARRIVE,
    BARRIER_LEAVE, CREATE, BEGIN, END, JOIN, ALLOCATE, FREE, COLLECT_OFF, COLLECT_ON,
    FRAME = 251,      // a function and its call, put into the tree: the caller is in the address
    IN_FRAME = 252,   // the accesses that follow are made in the frame of that number
    EXTENSION = 253,  // sequence number and value of the record before
    FILLER = 254,     // only instructions: its address is their number
};

enum sync_class { MUTEX, RWLOCK_READ, RWLOCK_WRITE, CONDITION, SEMAPHORE, FLAG };
enum wait { UNBOUNDED, BOUNDED };  // of an ACQUIRE, as its size
enum memory_order { RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ACQ_REL };

// `tag` is the kind and one: a file of zeros holds no records.
struct record {
    uint64_t address;
    union {
        struct {
            uint32_t pc;
            uint16_t instructions;
            uint8_t tag, size;
        };
        uint64_t word;
    };
};

enum unusual {
    OUTSIDE = 1,         // accesses are not recorded now
    IN_OTHER_FRAME = 2,  // a function has been entered or left since the latest one
};

#define MAX_THREADS 1024
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint32_t)(uintptr_t)__builtin_return_address(0))

// A failed attempt of an atomic operation that a thread may repeat while it waits.
struct poll {
    struct record *record;
    uint64_t value;
};

struct thread_state {
    struct record *next, *end;  // room in the thread's latest part of the file
    uint64_t pending;           // instructions since the thread's last event
    struct record *records;     // start of that part; NULL before the thread begins
    int number, is_ended, marks, tid;
    uint64_t part_bytes;        // size of the next part; 0 before the thread begins
    uint64_t random;            // state of the generator of delays; 0: no delays
    struct poll poll;
    uint64_t loaded[4];         // latest relaxed atomic loads, for an acquire fence
    uint8_t loaded_size[4];
    int is_released;            // a release fence has gone before
    struct record scratch[2];   // where the events of an ended thread go, one at a time
    struct call_tree *tree;     // NULL before the thread begins
    uint64_t calls;             // functions of the program that it is in
    uint64_t unknown_frames;    // of these, those at the end that have no place in the tree
    uint32_t frame;             // innermost function that has one
    uint32_t recorded_frame;    // that of the latest access
    uint64_t region;            // of these, down to one whose accesses are wanted; 0: in none
    unsigned unusual;           // why an access may not be just appended
    int depth;                  // of calls into the runtime that no handler may interrupt
    int has_signals;            // have come meanwhile
};

extern __thread struct thread_state self;

// Instructions from a return address into the program up to the next call of the runtime.
extern const uint16_t *racetrap_counts;
extern uint64_t racetrap_counts_end;  // return addresses from here on are not the program's

// Whether a return address lies in code that was compiled to be recorded.
int racetrap_is_recorded_code(uint32_t pc);

static inline uint64_t count_after(uint32_t pc) {
    return pc < racetrap_counts_end ? racetrap_counts[pc] : 0;
}

// Calls the handlers of the signals that have come.
void racetrap_take_signals(void);

// Around what a handler of the program's must not interrupt; the pairs may nest.
static inline void enter_runtime(void) {
    self.depth++;
    __asm__ volatile("" : : : "memory");
}

static inline void leave_runtime(void) {
    __asm__ volatile("" : : : "memory");
    if (--self.depth == 0 && !LIKELY(!self.has_signals)) racetrap_take_signals();
}

// Makes room for two records more.
void racetrap_grow(void);

// Takes the instructions so far, at most 65535: more are put into a filler.
uint16_t racetrap_fill(void);

static inline uint16_t take_instructions(void) {
    // The access itself comes after the call: it counts for its own event, not for the next.
    uint64_t count = self.pending + 1;
    return LIKELY(count <= 0xffff) ? (uint16_t)count : racetrap_fill();
}

static inline void put(struct record *record, unsigned kind, unsigned size, uint64_t address,
                       uint32_t pc, uint16_t instructions) {
    record->address = address;
    // One store, and the last: a record is there as a whole or not at all.
    uint64_t tag = kind + 1;
    *(volatile uint64_t *)&record->word =
        pc | (uint64_t)instructions << 32 | tag << 48 | (uint64_t)size << 56;
}

// Puts a new function into the tree of calls that the records have.
void racetrap_record_frame(uint32_t caller, uint32_t call, uint32_t function);

// Before an access: notes the frame if it is another than before.
void racetrap_note_frame(void);

// Appends a plain access from a call site in the program.
static inline void record_access(unsigned kind, unsigned size, const volatile void *address,
                                 uint32_t pc) {
    enter_runtime();
    if (!LIKELY(!self.unusual)) {
        if (self.unusual & OUTSIDE) {
            self.pending += 1 + count_after(pc);
            leave_runtime();
            return;
        }
        racetrap_note_frame();
    }
    if (!LIKELY(self.next != self.end)) racetrap_grow();
    uint16_t instructions = take_instructions();
    put(self.next++, kind, size, (uint64_t)address, pc, instructions);
    self.pending = count_after(pc);
    leave_runtime();
}

// Appends the accesses of a range, each of at most 16 bytes and not over a 16-byte boundary.
void racetrap_range(unsigned kind, const volatile void *address, uint64_t size, uint32_t pc);

// The same for a library function's accesses, if code that is recorded has called it.
void racetrap_library_range(unsigned kind, const volatile void *address, uint64_t size,
                            uint32_t pc);

// Appends an event that is ordered among threads, with a sequence number taken now.
void racetrap_sync(unsigned kind, uint64_t address, unsigned size, uint32_t value, uint32_t pc);

// Appends an event without address and order.
void racetrap_mark(unsigned kind, uint32_t pc);

// Begins the calling thread's record, with its event BEGIN.
void racetrap_begin_thread(int number);

// Ends it; later events of the thread are not recorded.
void racetrap_end_thread(void);

// Threads that have been created and have not ended, the first included.
int racetrap_running_threads(void);

// After a fork: no thread but the calling one is there any more.
void racetrap_forget_threads(void);

// Lets threads that outlive the program go on for as long as the user grants.
void racetrap_prepare_grace(void);

// Yields the processor now and then, if a seed was given: other orders of events.
void racetrap_delay(void);

// Whether the program is recorded at all: what `racetrap cc` has built runs without it, too.
extern int racetrap_is_on;

// Whether the calling thread's events are recorded.
static inline int is_recording(void) { return self.records != NULL && !self.is_ended; }

uint64_t racetrap_sequence(void);

// A lock that does not use what the runtime intercepts.
typedef struct { int taken; } spinlock;
void racetrap_lock_heap(void);
void racetrap_unlock_heap(void);
void racetrap_lock(spinlock *lock);
void racetrap_unlock(spinlock *lock);

// The function that the program would have called without the runtime.
void *racetrap_real(const char *name, const char *version);
#define REAL_VERSION(name, version)                                                     \
    ({                                                                                  \
        static __typeof__(&name) found;                                                 \
        if (!found) found = (__typeof__(&name))racetrap_real(#name, version);           \
        found;                                                                          \
    })
#define REAL(name) REAL_VERSION(name, NULL)

// Body of a function that acquires `object` by a call that returns 0 if it does.
#define ACQUIRE_BY(object, class, wait, call)                                           \
    {                                                                                   \
        racetrap_delay();                                                               \
        int error = call;                                                               \
        if (!error) racetrap_sync(ACQUIRE, (uint64_t)object, wait, class, CALLER);      \
        return error;                                                                   \
    }

#endif
