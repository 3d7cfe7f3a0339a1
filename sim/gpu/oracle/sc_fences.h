// Forced Fence-SC order: which fence.sc precede one whatever the order of the others.
// As sc_fences.py in tests/support/ptx_oracle.
#pragma once

#include <vector>

#include "cells.h"

class ScFences {
public:
    ScFences(int warps, int blocks, Joins &joins)
        : fences_(warps), blocks_(blocks), device_leaves_((warps + LANES - 1) / LANES),
          pasts_(warps), joins_(joins) {}

    // Orders a fence behind those that are forced to precede it, and takes it in.
    void add(Time row, Warp &warp, uint32_t lanes, bool is_device) {
        // What a fence makes known may be communicated from others.
        Known known;
        do {
            known = warp.clock.far;
            if (known) known->each_communicated([&](int number, const Leaf &leaf) {
                order_behind(row, warp, is_device, number * LANES, leaf);
            });
        } while (known != warp.clock.far);
        FenceRef fence(new Fence(warp.clock, warp.place, row));
        fences_[warp.place.warp].push_back({row, lanes, is_device, fence});
        device_leaves_[warp.place.warp / LANES] |= is_device;
        blocks_[warp.place.block].rows.push_back(row);
    }

    // What precedes an access in causality order, as what it communicates to others.  Times of the
    // last fences stand for those up to the access, so warps behind a barrier have one past.
    const Known &past(const Clock &clock, const Place &place) {
        const auto &own = fences_[place.warp];
        Time last = own.empty() ? 0 : own.back().row;
        Block &block = blocks_[place.block];
        Time block_time = block.last_until(clock.block_time);
        bool is_of_block = clock.mask == ALL_LANES && last <= block_time;
        Past &past = is_of_block ? block.past : pasts_[place.warp];
        if (!past.is_of(clock, block_time, last)) {
            past.clock = clock;
            past.clock.block_time = block_time;
            past.last = last;
            bool is_empty = is_of_block && !clock.far && !block_time;
            past.known = is_empty ? Known() : past.clock.past(place, last);
        }
        return past.known;
    }

    // Adds what is communicated to an access, and is not in its past.
    void communicate(Known &known, const Known &past, const Known &communicated) {
        if (!communicated || communicated == past || joins_.join(past, communicated) == past) return;
        known = joins_.join(known, communicated);
    }

    // Adds what is communicated to a read.
    void read(const std::vector<Cell *> &cells, bool observes, const Known &past, Known &known) {
        for (Cell *cell : cells) {
            if (!past && !cell->is_communicated()) continue;
            Communication &there = cell->communication();
            communicate(known, past, there.past);
            if (observes) {
                communicate(known, past, there.preceding);
                communicate(known, past, there.overtaken);
            }
            if (there.readers != past) there.readers = joins_.join(there.readers, past);
        }
    }

    // Adds what is communicated to a write.
    template <class IsBehind>
    void write(const std::vector<Cell *> &cells, const Access &access, uint32_t kind, int block,
               const Known &past, Known &known, IsBehind is_behind) {
        Known preceding = past;
        for (Cell *cell : cells) {
            Communication &there = cell->communication();
            if (!there.is_written) {
                there.overtaken = there.first_readers = there.readers;
            } else if (is_behind(*cell)) {
                there.overtaken = joins_.join(there.overtaken, there.readers);
                preceding = joins_.join(preceding, there.preceding);
            } else {
                there.overtaken = there.first_readers;
            }
            there.readers = Known();
            communicate(known, past, there.overtaken);
        }
        for (Cell *cell : cells) {
            Communication &there = cell->communication();
            there.is_written = true;
            there.last = access;
            there.kind = kind;
            there.block = block;
            there.past = past;
            there.preceding = preceding;
        }
        communicate(known, past, preceding);
    }

private:
    struct Fenced {
        Time row;
        uint32_t lanes;
        bool is_device;
        FenceRef fence;
    };
    struct Past {
        Clock clock;
        Time last = -1;
        Known known;

        bool is_of(const Clock &other, Time block_time, Time time) const {
            return (time <= block_time || last == time) && clock.block_time == block_time &&
                   Knowledge::is_same_causality(clock.far, other.far) &&
                   clock.mask == other.mask &&
                   (clock.mask == ALL_LANES || clock.others == other.others);
        }
    };

    // Fences of a block.
    struct Block {
        std::vector<Time> rows;
        Past past;  // of warps whose own fences are behind a barrier
        Time end = -1, last = 0;  // last row up to an end that was asked for before

        // No fence comes in before a time that a clock has, so the last one up to it stays.
        Time last_until(Time time) {
            if (time == end) return last;
            end = time;
            auto next = std::upper_bound(rows.begin(), rows.end(), time);
            return last = next == rows.begin() ? 0 : *(next - 1);
        }
    };

    // Orders a fence behind those of some warps that are communicated to its warp.
    void order_behind(Time row, Warp &warp, bool is_device, int first, const Leaf &leaf) {
        const Place &place = warp.place;
        bool is_far = first + LANES <= place.first || first >= place.first + place.count;
        if (is_far && !(is_device && device_leaves_[first / LANES])) return;
        for (int i = 0; i < LANES; i++) {
            Time latest = leaf.latest(i);
            if (!latest) continue;
            int other = first + i;
            Time known = warp.clock.time_of(place, other, row - 1);
            const auto &fences = fences_[other];
            for (size_t number = fences.size(); number--;) {
                const Fenced &each = fences[number];
                if (each.row <= known) break;
                bool is_strong = place.is_near(other) || (is_device && each.is_device);
                if (is_strong && is_news(each, other, leaf, i, warp, row))
                    warp.acquire(each.fence->known(), joins_);
            }
        }
    }

    // Whether a fence is communicated to a warp, and is not in its past.
    static bool is_news(const Fenced &fence, int other, const Leaf &leaf, int place,
                        const Warp &warp, Time now) {
        for (uint32_t left = fence.lanes; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            if (leaf.of(place, lane) >= fence.row &&
                !warp.clock.knows(warp.place, other, lane, fence.row, now - 1))
                return true;
        }
        return false;
    }

    std::vector<std::vector<Fenced>> fences_;  // by warp, ascending
    std::vector<Block> blocks_;
    std::vector<char> device_leaves_;  // by leaf, whether its warps had device fences
    std::vector<Past> pasts_;          // by warp
    Joins &joins_;
};
