// What both modes share: records of a trace, sets of bytes in flight, and the table of races.
#ifndef DETECTOR_H
#define DETECTOR_H

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "interval_set.h"
#include "twins.h"

struct Memory {
    uint64_t line, write_unit;
    unsigned engines;
    bool prefetch, uncached_snoops_cache, write_through;
};

using Range = std::pair<uint64_t, uint64_t>;
using Ranges = std::vector<Range>;

// The operation being checked: its bytes, their granules and their lines.
struct Access {
    Origin origin;
    unsigned engine;
    Ranges bytes, granules, lines;
};

class RaceTable {
public:
    void add(Rule rule, const Origin &later, const Origin &earlier, uint64_t first, uint64_t last,
             Overlap overlap);
    const std::vector<Race> &close(const std::unordered_set<uint64_t> &missed);
    // Number of the operation that found the first race, or the largest number.
    uint64_t first() const { return first_; }

private:
    struct Key {
        uint64_t rule, later, earlier;
        bool operator==(const Key &other) const {
            return rule == other.rule && later == other.later && earlier == other.earlier;
        }
    };
    struct Hash {
        size_t operator()(const Key &key) const {
            return (key.later * 0x9e3779b97f4a7c15u ^ key.earlier) * 0xff51afd7ed558ccdu ^ key.rule;
        }
    };
    std::unordered_map<Key, size_t, Hash> numbers_;
    std::vector<Race> races_;
    std::vector<std::pair<uint64_t, uint64_t>> latest_;  // latest instance, and the later place
    uint64_t first_ = ~0ull;
};

class Detector {
public:
    explicit Detector(const Memory &memory)
        : memory_(memory), reading_(memory.engines), writing_(memory.engines) {}
    virtual ~Detector() = default;

    void run(const Record *records, uint64_t count);
    const std::vector<Race> &close() { return table_.close(missed_places()); }
    uint64_t first() const { return table_.first(); }
    // For each set which of the bytes 0 to 63 it holds, and how many sets there are.
    uint64_t held(uint64_t *masks) const;
    // Most runs that all sets had together, sampled from time to time.
    uint64_t most_runs() const { return most_runs_; }

protected:
    virtual void cached_read(const Access &access) = 0;
    virtual void cached_write(const Access &access) = 0;
    virtual void uncached_read(const Access &access) = 0;
    virtual void uncached_write(const Access &access) = 0;
    virtual void dma_read(const Access &access) = 0;
    virtual void dma_write(const Access &access) = 0;
    virtual void flush(const Access &access) = 0;
    virtual void invalidate(const Access &access) = 0;
    // Those that say what the next operations find.
    virtual std::vector<const IntervalSet *> sets() const;
    virtual uint64_t runs() const;
    virtual std::unordered_set<uint64_t> missed_places() const { return {}; }

    void clean(const Access &access);
    void make_dirty(const Access &access);
    void issue(std::vector<IntervalSet> &sets, const Access &access) {
        for (auto [first, last] : access.bytes)
            sets[access.engine].add(first, last, access.origin);
    }
    void report(Rule rule, const Access &access, const Run &run, Overlap overlap) {
        table_.add(rule, access.origin, run.origin, run.first, run.last, overlap);
    }

    void with_bytes(Rule rule, const IntervalSet &set, const Access &access) {
        with_bytes(rule, set, access, access.bytes);
    }
    void with_bytes(Rule rule, const IntervalSet &set, const Access &access, const Ranges &bytes,
                    Overlap overlap = BYTES);
    void with_bytes(Rule rule, const std::vector<IntervalSet> &sets, const Access &access) {
        for (const IntervalSet &set : sets) with_bytes(rule, set, access);
    }
    void with_blocks(Rule rule, const IntervalSet &set, const Access &access, Overlap overlap);
    void with_blocks(Rule rule, const std::vector<IntervalSet> &sets, const Access &access,
                     Overlap overlap) {
        for (const IntervalSet &set : sets) with_blocks(rule, set, access, overlap);
    }
    void with_dirty(Rule rule, const Access &access);
    void with_other_engines(const std::vector<IntervalSet> &sets, const Access &access);

    Memory memory_;
    IntervalSet dirty_granules_, dirty_bytes_;
    std::vector<IntervalSet> reading_, writing_;

private:
    void step(const Record &record);
    void look_up(const Record &record);

    Access access_;
    RaceTable table_;
    uint64_t number_ = 0, most_runs_ = 0;
};

#endif
