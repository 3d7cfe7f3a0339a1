// Events of traces of threads, as records in memory.
#ifndef THREAD_EVENTS_H
#define THREAD_EVENTS_H

#include <cstdint>

// As THREAD_DTYPE in racetrap.golden_model.trace.threads.schema.
struct Event {
    uint64_t address;
    uint32_t pc, value, instructions;
    uint16_t thread;
    uint8_t kind, size;
};
static_assert(sizeof(Event) == 24);

// As ThreadEventKind, SyncClass and MemoryOrder in racetrap.golden_model.trace.threads.events.
enum Kind : uint8_t {
    LOAD, STORE, ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_UPDATE, ACQUIRE, RELEASE, BARRIER_ARRIVE,
    BARRIER_LEAVE, CREATE, BEGIN, END, JOIN, ALLOCATE, FREE, COLLECT_OFF, COLLECT_ON, KINDS,
};
enum SyncClass : uint32_t {
    MUTEX, RWLOCK_READ, RWLOCK_WRITE, CONDITION, SEMAPHORE, FLAG, CLASSES,
};
// Bits of an order.
enum MemoryOrder : uint32_t { ORDER_ACQUIRES = 1, ORDER_RELEASES = 2 };

// Bits of an access's value below its frame: those of an atomic one's order.
inline unsigned bits_below_frame(const Event &access) { return access.kind > STORE ? 2 : 0; }

#endif
