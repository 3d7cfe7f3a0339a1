// Events as the oracle reads them.
#pragma once

#include "twins.h"

//: Row of an event in its kernel.
using Time = int32_t;

// What a scope includes, and how far threads are apart: within a block, a cluster or the device.
enum Reach : uint8_t { IN_BLOCK, IN_CLUSTER, ON_DEVICE };

inline Reach reach_of(uint8_t scope) {
    return scope == DEVICE ? ON_DEVICE : scope == CLUSTER ? IN_CLUSTER : IN_BLOCK;
}

inline bool acquires(uint8_t order) { return order == ACQUIRE || order == ACQ_REL; }
inline bool releases(uint8_t order) { return order == RELEASE || order == ACQ_REL; }

// Accesses that are no longer kept, though a later one may race with them and with none that is.
struct Lost {
    static constexpr int32_t SEVERAL = -1;
    Time row = 0;                 // of the last of them
    int32_t block = 0, kind = 0;  // theirs, or SEVERAL
    bool reads = false, writes = false;

    void add(Time at, int32_t of_block, int32_t of_kind, bool is_write) {
        bool is_first = !reads && !writes;
        block = is_first || block == of_block ? of_block : SEVERAL;
        kind = is_first || kind == of_kind ? of_kind : SEVERAL;
        row = at > row ? at : row;
        (is_write ? writes : reads) = true;
    }

    void add(const Lost &other) {
        if (other.reads) add(other.row, other.block, other.kind, false);
        if (other.writes) add(other.row, other.block, other.kind, true);
    }

    // Whether an access may race with them; its block has passed a barrier at a time.
    bool may_race(bool is_write, int32_t of_block, Time block_time) const {
        return (writes || (reads && is_write)) && (block != of_block || row > block_time);
    }
};

// What decides whether an access conflicts with others, and is morally strong with them.
struct Kind {
    uint8_t size;
    bool is_strong;
    Reach reach;  // of its scope
    bool is_volatile, writes;
    uint32_t pc;
    uint32_t pc_number;  // of its instruction
};
