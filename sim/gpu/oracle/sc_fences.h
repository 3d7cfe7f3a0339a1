// Forced Fence-SC order: which fence.sc precede one whatever the order of the others.
// As sc_fences.py in tests/support/ptx_oracle.
#pragma once

#include <unordered_map>
#include <vector>

#include "cells.h"
#include "places.h"

//: Fences of a warp that are kept.  What follows one that is not stands for it too, so that no order
//: is missing.
constexpr size_t MOST_FENCES = 64;

class ScFences {
public:
    ScFences(const Places &places, const std::vector<Kind> &kinds, Joins &joins)
        : places_(places), kinds_(kinds), joins_(joins) {}

    // Orders a fence behind those that are forced to precede it, and takes it in.
    void add(Time row, Warp &warp, uint32_t lanes, Reach reach) {
        // What a fence makes known may be communicated from others.
        Known known;
        const Place &place = warp.place;
        auto counts = [&](size_t number) {
            int first = number * LANES;
            bool is_far = first + LANES <= place.first || first >= place.first + place.count;
            return !is_far ||
                   (reach > IN_BLOCK && number < far_leaves_.size() && far_leaves_[number]);
        };
        do {
            known = warp.clock.far;
            if (known) known->each_communicated(counts, [&](int number, const Leaf &leaf) {
                order_behind(row, warp, reach, number * LANES, leaf);
            });
        } while (known != warp.clock.far);
        FenceRef fence(new Fence(warp.clock, warp.place, row));
        size_t number = warp.place.warp, leaf = number / LANES;
        if (fences_.size() <= number) fences_.resize(number + 1);
        auto &own = fences_[number];
        own.push_back({row, row, lanes, reach, place.block, fence, Known()});
        if (own.size() > MOST_FENCES) {
            own[1].stand_for(own[0], joins_);
            own.erase(own.begin());
        }
        if (far_leaves_.size() <= leaf) far_leaves_.resize(leaf + 1);
        far_leaves_[leaf] |= reach > IN_BLOCK;
        auto &rows = blocks_[warp.place.block].rows;
        if (rows.empty() || rows.back() != row) rows.push_back(row);
    }

    // Forgets what only serves threads that run.
    void forget(int block, int first, int count) {
        blocks_.erase(block);
        for (int warp = first; warp < first + count; warp++) pasts_.erase(warp);
    }

    // What precedes an access in causality order, as what it communicates to others.  Times of the
    // last fences stand for those up to the access, so warps behind a barrier have one past.
    const Known &past(const Clock &clock, const Place &place) {
        Time last = last_of(place.warp);
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
            Communication &there = cell->communication(kinds_);
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
            Communication &there = cell->communication(kinds_);
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
            Communication &there = cell->communication(kinds_);
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
    Time last_of(int warp) const {
        bool has_any = (size_t)warp < fences_.size() && !fences_[warp].empty();
        return has_any ? fences_[warp].back().row : 0;
    }

    struct Fenced {
        Time row, from;  // from: of the first that it stands for
        uint32_t lanes;
        Reach reach;
        int block;
        FenceRef fence;
        Known others;  // what is known at those that it stands for

        Known known(Joins &joins) const { return joins.join(fence->known(), others); }

        // Lanes on two sides of a branch do not know each other's fences.
        void stand_for(const Fenced &before, Joins &joins) {
            from = before.from;
            lanes |= before.lanes;
            reach = std::max(reach, before.reach);
            others = before.known(joins);
        }
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

        // No fence comes in before a time that a clock has, so the last one up to it stays, and
        // times do not fall.
        Time last_until(Time time) {
            if (time == end) return last;
            end = time;
            auto next = std::upper_bound(rows.begin(), rows.end(), time);
            if (next != rows.begin()) last = *(next - 1);
            rows.erase(rows.begin(), next);
            return last;
        }
    };

    // Orders a fence behind those of some warps that are communicated to its warp.
    void order_behind(Time row, Warp &warp, Reach reach, int first, const Leaf &leaf) {
        const Place &place = warp.place;
        for (int i = 0; i < LANES; i++) {
            Time latest = leaf.latest(i);
            if (!latest) continue;
            int other = first + i;
            if ((size_t)other >= fences_.size()) break;
            Time known = warp.clock.time_of(place, other, row - 1);
            const auto &fences = fences_[other];
            auto later = [](Time time, const Fenced &each) { return time < each.from; };
            auto end = std::upper_bound(fences.begin(), fences.end(), latest, later);
            while (end-- != fences.begin() && end->row > known) {
                bool is_strong =
                    std::min(reach, end->reach) >= places_.distance(place.block, end->block);
                if (!is_strong || !is_news(*end, other, leaf, i, warp, row)) continue;
                warp.acquire(end->known(joins_), joins_);
                known = warp.clock.time_of(place, other, row - 1);
            }
        }
    }

    // Whether a fence is communicated to a warp, and is not in its past.
    static bool is_news(const Fenced &fence, int other, const Leaf &leaf, int place,
                        const Warp &warp, Time now) {
        for (uint32_t left = fence.lanes; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            if (leaf.of(place, lane) >= fence.from &&
                !warp.clock.knows(warp.place, other, lane, fence.row, now - 1))
                return true;
        }
        return false;
    }

    std::vector<std::vector<Fenced>> fences_;  // by warp, ascending
    std::unordered_map<int, Block> blocks_;
    std::vector<char> far_leaves_;  // by leaf, whether its warps had fences that reach other blocks
    std::unordered_map<int, Past> pasts_;  // by warp
    const Places &places_;
    const std::vector<Kind> &kinds_;
    Joins &joins_;
};
