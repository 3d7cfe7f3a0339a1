// Histories: the accesses to a location that is no cell, all of them weak and in order.  Locations
// that the threads of a warp have accessed alike, side by side, share one.
#pragma once

#include <memory>
#include <vector>

#include "warps.h"

//: Accesses that a history keeps.
constexpr int MOST_KEPT = 8;

// Which lanes of a warp access a location: those of a mask, or the one that follows from its
// address, if the lanes access places at a distance of a power of two.
struct LanesAt {
    static constexpr uint32_t BY_MASK = 31;

    uint32_t unit;  // log2 of the distance, or BY_MASK
    uint32_t lanes;  // the mask, or the lane at address 0

    static LanesAt with_distance(uint32_t unit, int lane, uint64_t address) {
        return {unit, (uint32_t)(lane - (address >> unit)) % LANES};
    }

    uint32_t at(uint64_t address) const {
        return unit == BY_MASK ? lanes : 1u << ((address >> unit) + lanes) % LANES;
    }

    // Lanes that it may be of at any address.
    uint32_t all() const { return unit == BY_MASK ? lanes : ALL_LANES; }

    // Whether it is one lane, the same as another at each address.
    bool is_lane_of(const LanesAt &other) const {
        return unit == other.unit && lanes == other.lanes &&
               (unit != BY_MASK || !(lanes & (lanes - 1)));
    }
};

// An access of a warp.
struct Entry {
    Time row;
    Time previous;  // of a write the one of the same threads before it, or 0
    int32_t warp;
    uint32_t kind : 27, unit : 5;
    uint32_t lanes;
    Ref<const Pasts> pasts;  // what it communicates, once there has been a fence.sc

    LanesAt lanes_at() const { return {unit, lanes}; }
};

struct alignas(8) History {
    uint32_t users;  // locations
    uint8_t count, size_class;
    bool is_cut;      // whether it has had more entries than it keeps
    bool is_unknown;  // whether an access has come that may race with what is lost
    Lost lost;

    Entry *entries() { return (Entry *)(this + 1); }
    const Entry &last() { return entries()[count - 1]; }
};

// Histories by number, from 1.
class Histories {
public:
    History *at(uint32_t number) {
        Pool &pool = pools_[number & 3];
        return pool.at(number >> 2);
    }

    // A history with room for so many entries, and none yet.
    uint32_t make(int count) {
        int size_class = count <= 1 ? 0 : count <= 2 ? 1 : count <= 4 ? 2 : 3;
        Pool &pool = pools_[size_class];
        if (!pool.free.empty()) {
            uint32_t number = pool.free.back();
            pool.free.pop_back();
            return init(number << 2 | size_class, size_class);
        }
        if (pool.next >> CHUNK_BITS == pool.chunks.size())
            pool.chunks.push_back(
                std::make_unique_for_overwrite<char[]>(bytes(size_class) << CHUNK_BITS));
        pool.bytes = bytes(size_class);
        return init(pool.next++ << 2 | size_class, size_class);
    }

    static int room(const History *history) { return 1 << history->size_class; }

    // Some locations no longer have it.
    void leave(uint32_t number, uint32_t users) {
        History *history = at(number);
        history->users -= users;
        if (history->users) return;
        for (int i = 0; i < history->count; i++) history->entries()[i].~Entry();
        history->count = 0;
        pools_[number & 3].free.push_back(number >> 2);
    }

private:
    static constexpr int CHUNK_BITS = 10;
    struct Pool {
        std::vector<std::unique_ptr<char[]>> chunks;
        std::vector<uint32_t> free;
        uint32_t next = 1;
        size_t bytes = 0;

        History *at(uint32_t number) {
            return (History *)&chunks[number >> CHUNK_BITS]
                                     [bytes * (number & ((1 << CHUNK_BITS) - 1))];
        }
    };

    static size_t bytes(int size_class) {
        return sizeof(History) + (sizeof(Entry) << size_class);
    }

    uint32_t init(uint32_t number, int size_class) {
        History *history = at(number);
        *history = {0, 0, (uint8_t)size_class, false, false, {}};
        return number;
    }

    Pool pools_[4];
};
