// A kernel as the oracle reads it.
#pragma once

#include <cstdint>

// As EVENT_DTYPE and LANE_DTYPE in racetrap.golden_model.trace.gpu.schema.
struct Event {
    uint8_t kind, scope, strong, op, size, slot, warp_slot, warp_count;
    uint32_t sm, pc, grid_block, mask, success_mask;
    uint16_t space, order;
    uint64_t first_lane;
};
static_assert(sizeof(Event) == 40);

struct LaneRecord {
    uint64_t address, value, compare;
};

// As EventKind, AtomicOp and MemoryOrder in racetrap.golden_model.events.
enum EventKind : uint8_t {
    LOAD, STORE, ATOMIC, FENCE, BARRIER, IF = 9, ELSE, FI, EXIT, WARP_BARRIER,
    BARRIER_ARRIVE = 17, PARTIAL_BARRIER,
};
enum AtomicOp : uint8_t { CAS };
enum Order : uint8_t { IMPLIED, RELAXED, ACQUIRE, RELEASE, ACQ_REL };

inline bool acquires(uint8_t order) { return order == ACQUIRE || order == ACQ_REL; }
inline bool releases(uint8_t order) { return order == RELEASE || order == ACQ_REL; }

// As _Kernel in compiled_oracle.py.
struct KernelArrays {
    uint64_t rows, blocks, warps;
    uint64_t first_lane;      // number of the first lane record
    uint64_t cell_bits;       // log2 of the bytes of a cell, those of the smallest access
    uint64_t independent;     // whether the lanes of a warp are scheduled independently
    const Event *events;
    const LaneRecord *lanes;
    const int32_t *block, *warp;  // of each row
    const uint8_t *order;         // that each row has
    const uint8_t *is_part;       // whether a row is a fence that is part of an access
    const int64_t *first_warp, *warp_count;  // of each block
    const int64_t *live;                     // of each warp
};
