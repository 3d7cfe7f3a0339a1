// Clocks of synchronisation objects: written by releases, read by acquires, as SyncObjects of
// racetrap.golden_model.happens_before.sync_objects.
#ifndef SYNC_OBJECTS_H
#define SYNC_OBJECTS_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "thread_events.h"

// A counter for each thread.
using Clock = std::vector<uint32_t>;

inline void learn(Clock &clock, const Clock &other) {
    for (size_t i = 0; i < clock.size(); i++) clock[i] = std::max(clock[i], other[i]);
}

// As releases and acquires of racetrap.golden_model.trace.threads.events.
inline bool releases(const Event &event) {
    switch (event.kind) {
    case ATOMIC_STORE:
    case ATOMIC_UPDATE: return event.value & ORDER_RELEASE;
    case RELEASE:
    case BARRIER_ARRIVE:
    case CREATE:
    case END: return true;
    default: return false;
    }
}

inline bool acquires(const Event &event) {
    switch (event.kind) {
    case ATOMIC_LOAD:
    case ATOMIC_UPDATE: return event.value & ORDER_ACQUIRE;
    case ACQUIRE:
    case BARRIER_LEAVE:
    case JOIN: return true;
    case BEGIN: return event.thread;
    default: return false;
    }
}

class SyncObjects {
public:
    // A thread gives its clock, which has just advanced, to what `event` releases.
    void release(const Event &event, const Clock &clock) {
        bool overwrites =
            event.kind == RELEASE && (event.value == MUTEX || event.value == RWLOCK_WRITE);
        auto [object, is_new] = objects_.try_emplace(released(event), clock);
        if (is_new) return;
        if (overwrites) object->second = clock;
        else learn(object->second, clock);
    }

    // Merges what `event` acquires into the clock of its thread.
    void acquire(const Event &event, Clock &clock) {
        uint64_t address = event.address;
        switch (event.kind) {
        case ACQUIRE:
            if (event.value == RWLOCK_WRITE) take({{address, WRITERS, 0}, {address, READERS, 0}}, clock);
            else if (event.value == RWLOCK_READ) take({{address, WRITERS, 0}}, clock);
            else take({{address, OBJECT, event.value}}, clock);
            break;
        case BARRIER_LEAVE: {
            Name crossing = {address, CROSSING, crossings_[{address, 0, event.thread}]};
            take({crossing}, clock);
            forget(crossing, event.value);
            break;
        }
        case BEGIN: take({{0, CREATED, event.thread}}, clock); break;
        case JOIN: take({{0, ENDED, event.value}}, clock); break;
        default: take({{address, ATOMIC, 0}}, clock);
        }
    }

private:
    enum Type : uint32_t { OBJECT, WRITERS = 16, READERS, CREATED, ENDED, ATOMIC, CROSSING };

    // Objects are distinguished by kind, address and a number.
    struct Name {
        uint64_t address;
        uint32_t type, number;
        bool operator==(const Name &other) const = default;
    };

    struct NameHash {
        size_t operator()(const Name &name) const {
            uint64_t mixed = (name.address ^ (uint64_t)name.type << 56) * 0x9e3779b97f4a7c15u;
            return (mixed ^ mixed >> 29) + name.number * 0xbf58476d1ce4e5b9u;
        }
    };

    std::unordered_map<Name, Clock, NameHash> objects_;
    std::unordered_map<uint64_t, uint32_t> arrivals_;
    std::unordered_map<Name, uint32_t, NameHash> crossings_, leaves_;

    Name released(const Event &event) {
        uint64_t address = event.address;
        switch (event.kind) {
        case RELEASE:
            if (event.value == RWLOCK_WRITE) return {address, WRITERS, 0};
            if (event.value == RWLOCK_READ) return {address, READERS, 0};
            return {address, OBJECT, event.value};
        case BARRIER_ARRIVE: {
            uint32_t crossing = arrivals_[address]++ / event.value;
            crossings_[{address, 0, event.thread}] = crossing;
            return {address, CROSSING, crossing};
        }
        case CREATE: return {0, CREATED, event.value};
        case END: return {0, ENDED, event.thread};
        default: return {address, ATOMIC, 0};
        }
    }

    void take(std::initializer_list<Name> names, Clock &clock) {
        for (const Name &name : names)
            if (auto object = objects_.find(name); object != objects_.end())
                learn(clock, object->second);
    }

    // Drops a crossing that all its threads have left.
    void forget(const Name &crossing, uint32_t width) {
        if (++leaves_[crossing] < width) return;
        leaves_.erase(crossing);
        objects_.erase(crossing);
    }
};

#endif
