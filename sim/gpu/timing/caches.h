// Cache whose lines are filled segment by segment, and table of the segments that are in flight.
#pragma once

#include <bit>
#include <vector>

#include "twins.h"

constexpr int LINE_LOG2 = 7;

struct CacheLine {
    uint64_t line = 0;
    uint64_t used = 0;
    uint32_t epoch = 0;
    uint8_t valid = 0, dirty = 0;  // a bit for each segment
};

// `sets` sets of `ways` lines; the least recently used line is replaced.
class Cache {
public:
    Cache(uint64_t sets, uint64_t ways) : ways_(ways), lines_(sets * ways) {}

    CacheLine *find(uint64_t set, uint64_t line) {
        CacheLine *first = &lines_[set * ways_];
        for (CacheLine *each = first; each < first + ways_; each++)
            if (each->line == line && each->epoch == epoch_) return each;
        return nullptr;
    }

    CacheLine *touch(CacheLine *line) {
        line->used = ++clock_;
        return line;
    }

    // The line that `line` takes the place of, or itself if it is there.
    CacheLine *victim(uint64_t set, uint64_t line) {
        if (CacheLine *found = find(set, line)) return found;
        CacheLine *first = &lines_[set * ways_], *oldest = first;
        for (CacheLine *each = first; each < first + ways_; each++) {
            if (each->epoch != epoch_) return each;
            if (each->used < oldest->used) oldest = each;
        }
        return oldest;
    }

    void place(CacheLine *at, uint64_t line) { *at = {line, ++clock_, epoch_, 0, 0}; }

    bool holds(const CacheLine *line) const { return line->epoch == epoch_; }

    void clear() { epoch_++; }

private:
    uint64_t ways_, clock_ = 0;
    uint32_t epoch_ = 1;
    std::vector<CacheLine> lines_;
};

// What is in flight: a number for each segment. Open addressing; removal moves entries back.
class InFlight {
public:
    InFlight() : keys_(MIN, FREE), values_(MIN) {}

    size_t size() const { return count_; }

    uint32_t *find(uint64_t key) {
        size_t at = place_of(key);
        return keys_[at] == key ? &values_[at] : nullptr;
    }

    uint32_t &add(uint64_t key, uint32_t value) {
        if (++count_ * 2 > keys_.size()) grow();
        size_t at = place_of(key);
        keys_[at] = key;
        return values_[at] = value;
    }

    void remove(uint64_t key) {
        size_t mask = keys_.size() - 1, hole = place_of(key);
        count_--;
        for (size_t at = (hole + 1) & mask; keys_[at] != FREE; at = (at + 1) & mask) {
            size_t home = hash(keys_[at]) & mask;
            if (((at - home) & mask) < ((at - hole) & mask)) continue;
            keys_[hole] = keys_[at];
            values_[hole] = values_[at];
            hole = at;
        }
        keys_[hole] = FREE;
    }

private:
    static constexpr uint64_t FREE = ~uint64_t(0);
    static constexpr size_t MIN = 64;

    static size_t hash(uint64_t key) { return (key * 0x9e3779b97f4a7c15) >> 20; }

    size_t place_of(uint64_t key) const {
        size_t mask = keys_.size() - 1, at = hash(key) & mask;
        while (keys_[at] != key && keys_[at] != FREE) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<uint64_t> keys(2 * keys_.size(), FREE);
        std::vector<uint32_t> values(2 * keys_.size());
        keys.swap(keys_);
        values.swap(values_);
        for (size_t at = 0; at < keys.size(); at++) {
            if (keys[at] == FREE) continue;
            size_t to = place_of(keys[at]);
            keys_[to] = keys[at];
            values_[to] = values[at];
        }
    }

    size_t count_ = 0;
    std::vector<uint64_t> keys_;
    std::vector<uint32_t> values_;
};
