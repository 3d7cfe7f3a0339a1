// Epochs, committed instructions and collected accesses of each thread of a trace, as EpochIndex of
// racetrap.golden_model.happens_before.epoch_index, in some 5 bytes an event.
#ifndef EPOCH_INDEX_H
#define EPOCH_INDEX_H

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "../sync_objects.h"
#include "settings.h"

// Allocations of a trace by what they cover, as Allocations of the same module.
class Allocations {
public:
    void add(const Event &event, uint32_t number) {
        uint64_t end = event.address + event.value;
        // At this level an allocation lies in one bucket, or in two.
        uint32_t level = std::bit_width(event.value | 1u << GRANULE_LOG2);
        levels_ |= 1ull << level;
        uint64_t last = std::max<uint64_t>(end, 1) - 1;
        for (uint64_t bucket = event.address >> level; bucket <= last >> level; bucket++)
            pieces_.push_back({level, bucket, event.address, end, number});
    }

    // All have been added.
    void settle() { std::sort(pieces_.begin(), pieces_.end()); }

    // Number of allocations that cover a granule (byte address) before an event.
    uint64_t count(uint64_t granule, uint32_t number) const {
        uint64_t found = 0;
        for (uint64_t rest = levels_; rest; rest &= rest - 1) {
            uint32_t level = std::countr_zero(rest);
            uint64_t bucket = granule >> level;
            Piece least = {level, bucket, 0, 0, 0};
            auto at = std::lower_bound(pieces_.begin(), pieces_.end(), least);
            while (at != pieces_.end() && at->level == level && at->bucket == bucket) {
                auto before = at;
                Piece piece = *at;
                piece.number = number;
                at = std::lower_bound(at, pieces_.end(), piece);
                if (piece.first < granule + (1u << GRANULE_LOG2) && piece.end > granule)
                    found += at - before;
                piece.number = -1;
                at = std::upper_bound(at, pieces_.end(), piece);
            }
        }
        return found;
    }

private:
    // The part of an allocation in a bucket.
    struct Piece {
        uint32_t level;
        uint64_t bucket, first, end;
        uint32_t number;
        auto operator<=>(const Piece &other) const = default;
    };
    std::vector<Piece> pieces_;
    uint64_t levels_ = 0;  // a bit for each that has allocations
};

class EpochIndex {
public:
    EpochIndex(const Event *events, uint64_t count, uint32_t threads)
        : events_(events), threads_(threads) {
        for (uint64_t number = 0; number < count; number++) {
            const Event &event = events[number];
            Thread &thread = threads_[event.thread];
            if (thread.numbers.size() % SUMMED == 0) thread.sums.push_back(thread.sum);
            thread.sum += event.instructions;
            thread.numbers.push_back(number);
            uint64_t position = thread.numbers.size();
            for (int steps = releases(event) + acquires(event); steps; steps--)
                thread.starts.push_back(position);
            if (event.kind >= COLLECT_OFF) thread.toggles.push_back(position);
            if (event.kind == ALLOCATE) {
                allocated_.push_back(number);
                allocations.add(event, number);
            }
        }
        allocations.settle();
    }

    uint64_t start(uint32_t number, uint64_t epoch) const {
        const Thread &thread = threads_[number];
        if (!epoch) return 0;
        return epoch <= thread.starts.size() ? thread.starts[epoch - 1] : thread.numbers.size();
    }

    uint64_t position(uint32_t number, int64_t event) const {
        const auto &numbers = threads_[number].numbers;
        return std::upper_bound(numbers.begin(), numbers.end(), event) - numbers.begin();
    }

    uint64_t instructions(uint32_t thread, uint64_t first, uint64_t last) const {
        return before(threads_[thread], last) - before(threads_[thread], first);
    }

    // Different granules (byte addresses) that are collected at some positions, ascending.
    std::vector<uint64_t> granules(uint32_t thread, uint64_t first, uint64_t last) const {
        std::vector<uint64_t> found;
        size_t limit = 1 << 12;
        auto drop_doubles = [&] {
            std::sort(found.begin(), found.end());
            found.erase(std::unique(found.begin(), found.end()), found.end());
        };
        // The latest granule of each remainder, since most accesses repeat one of a while ago.
        std::vector<uint64_t> recent(std::bit_ceil(std::clamp<uint64_t>(last - first, 1, RECENT)),
                                     -1);
        each_access(thread, first, last, [&](uint32_t, uint64_t granule, uint64_t end) {
            for (; granule <= end; granule++) {
                uint64_t &latest = recent[granule & (recent.size() - 1)];
                if (latest == granule) continue;
                latest = granule;
                found.push_back(granule << GRANULE_LOG2);
            }
            if (found.size() < limit) return;
            drop_doubles();
            limit = std::max(limit, 2 * found.size());
        });
        drop_doubles();
        found.shrink_to_fit();
        return found;
    }

    // Numbers of the accesses there that touch any of the granules (byte addresses, ascending).
    // One that is like an earlier one is left out, unless a granule was allocated in between.
    std::vector<uint32_t> accesses(uint32_t thread, uint64_t first, uint64_t last,
                                   const std::vector<uint64_t> &granules) const {
        auto touches = [&](uint64_t granule, uint64_t end) {
            if (end < granules.front() >> GRANULE_LOG2 || granule > granules.back() >> GRANULE_LOG2)
                return false;
            auto next = std::lower_bound(granules.begin(), granules.end(), granule << GRANULE_LOG2);
            return next != granules.end() && *next >> GRANULE_LOG2 <= end;
        };
        std::vector<uint32_t> found;
        std::unordered_set<Access, AccessHash> seen;
        auto allocation = allocated_.begin();
        each_access(thread, first, last, [&](uint32_t number, uint64_t granule, uint64_t end) {
            for (; allocation != allocated_.end() && *allocation < number; allocation++) {
                const Event &block = events_[*allocation];
                uint64_t behind = block.address + block.value + (1u << GRANULE_LOG2) - 1;
                if (!seen.empty() && touches(block.address >> GRANULE_LOG2, behind >> GRANULE_LOG2))
                    seen.clear();
            }
            if (!touches(granule, end)) return;
            const Event &event = events_[number];
            if (seen.insert({event.address, event.pc, event.kind, event.size}).second)
                found.push_back(number);
        });
        return found;
    }

    Allocations allocations;

private:
    static constexpr uint64_t SUMMED = 32;       // events of each sum that is kept
    static constexpr uint64_t RECENT = 1 << 14;  // remainders of granules, a power of two
    struct Thread {
        std::vector<uint32_t> numbers;  // of its events
        std::vector<uint32_t> starts;   // positions of its epochs, but the first
        std::vector<uint32_t> toggles;  // positions from which accesses are not collected, or are
        std::vector<uint64_t> sums;     // instructions before each SUMMED-th event
        uint64_t sum = 0;
    };

    // What distinguishes accesses of a thread within an epoch.
    struct Access {
        uint64_t address;
        uint32_t pc;
        uint8_t kind, size;
        bool operator==(const Access &other) const = default;
    };
    struct AccessHash {
        size_t operator()(const Access &access) const {
            uint64_t mixed = access.address * 0x9e3779b97f4a7c15u ^ access.pc * 0xbf58476d1ce4e5b9u;
            return (mixed ^ mixed >> 29) + access.kind * 16 + access.size;
        }
    };

    const Event *events_;
    std::vector<Thread> threads_;
    std::vector<uint32_t> allocated_;  // events that allocate

    uint64_t before(const Thread &thread, uint64_t position) const {
        if (position == thread.numbers.size()) return thread.sum;
        uint64_t sum = thread.sums[position / SUMMED];
        for (uint64_t at = position / SUMMED * SUMMED; at < position; at++)
            sum += events_[thread.numbers[at]].instructions;
        return sum;
    }

    template <class Work>
    void each_access(uint32_t number, uint64_t first, uint64_t last, Work work) const {
        const Thread &thread = threads_[number];
        auto toggle = std::upper_bound(thread.toggles.begin(), thread.toggles.end(), first);
        bool is_off = (toggle - thread.toggles.begin()) & 1;
        for (uint64_t at = first; at < last; at++) {
            for (; toggle != thread.toggles.end() && *toggle <= at; toggle++) is_off = !is_off;
            const Event &event = events_[thread.numbers[at]];
            if (event.kind > STORE || is_off) continue;
            work(thread.numbers[at], event.address >> GRANULE_LOG2,
                 (event.address + event.size - 1) >> GRANULE_LOG2);
        }
    }
};

#endif
