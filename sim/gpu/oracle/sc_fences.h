// Forced Fence-SC order: which fence.sc precede one whatever the order of the others.
// As sc_fences.py in tests/support/ptx_oracle.
#pragma once

#include <unordered_map>
#include <vector>

#include "cells.h"
#include "kept_fences.h"
#include "places.h"

class ScFences {
public:
    ScFences(const Places &places, const std::vector<Kind> &kinds, Joins &joins)
        : places_(places), kinds_(kinds), joins_(joins) {}

    // Orders a fence behind those that are forced to precede it, and takes it in.
    FenceRef add(Time row, Warp &warp, uint32_t lanes, Reach reach) {
        order(row, warp, reach);
        const Place &place = warp.place;
        FenceRef fence(new Fence(warp.clock, place, row));
        fences_.add(place.warp, warp.clock.block_time,
                    {row, row, lanes, reach, place.block, fence, Known()}, joins_);
        auto &rows = blocks_[place.block].rows;
        if (rows.empty() || rows.back() != row) rows.push_back(row);
        return fence;
    }

    // Forgets what only serves threads of a block.
    void forget(int block, int first, int count) {
        blocks_.erase(block);
        for (int warp = first; warp < first + count; warp++) pasts_.erase(warp);
        fences_.retire(first, count);
    }

    // What precedes an access in causality order, as what it communicates to others.  Times of the
    // last fences stand for those up to the access, so warps behind a barrier have one past.
    const Known &past(const Clock &clock, const Place &place) {
        Block &block = blocks_[place.block];
        Time block_time = block.last_until(clock.block_time);
        Time last = last_behind(block_time, place.warp);
        bool is_of_block = clock.mask == ALL_LANES && !last;
        Past &past = is_of_block ? block.past : pasts_[place.warp];
        if (!past.is_of(clock, block_time, last)) {
            past.clock = clock;
            past.clock.block_time = block_time;
            past.last = last;
            bool is_empty = is_of_block && !clock.far && !block_time;
            past.known = is_empty ? Known() : past.clock.past(place, last, joins_);
        }
        return past.known;
    }

    // Adds what is communicated to an access, and is not in its past.
    void communicate(Known &known, const Known &past, const Known &communicated) {
        if (!Knowledge::covers(past, communicated)) known = joins_.join(known, communicated);
    }

    // Adds what is communicated to a read.
    void read(const std::vector<Cell *> &cells, bool observes, const Known &past, Known &known) {
        for (Cell *cell : cells) {
            if (!past && !cell->is_communicated()) continue;
            Communication &there = cell->communication(kinds_);
            communicate(known, past, observes ? there.preceding : there.past);
            if (observes) communicate(known, past, there.overtaken);
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
            // Who learns of the readers learns of what precedes the write, its own past with it.
            Known others = there.readers == past ? Known() : there.readers;
            if (!there.is_written) {
                there.first_readers = there.readers;
                there.overtaken = others;
            } else if (is_behind(*cell)) {
                there.overtaken = joins_.join(there.overtaken, others);
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
    // Row of the last fence of a warp behind a time, or 0.
    Time last_behind(Time time, int warp) const {
        size_t leaf = warp / LANES;
        if (leaf >= fences_.leaf_count() || fences_.last(leaf) <= time) return 0;
        const auto &fences = fences_.of(warp);
        return fences.empty() || fences.back().row <= time ? 0 : fences.back().row;
    }

    struct Past {
        Clock clock;
        Time last = -1;
        Known known;

        bool is_of(const Clock &other, Time block_time, Time time) const {
            return (!time || last == time) && clock.block_time == block_time &&
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

    // Orders a warp behind the fences that are forced to precede one of its own.
    void order(Time row, Warp &warp, Reach reach) {
        const Place &place = warp.place;
        uint32_t first = place.first / LANES, end = (place.first + place.count - 1) / LANES + 1;
        auto counts = [&](uint32_t leaf) {
            if (leaf >= fences_.leaf_count()) return false;
            bool is_near = leaf >= first && leaf < end;
            return is_near ? fences_.last(leaf) > least_known(warp, leaf)
                           : fences_.reach(leaf) > IN_BLOCK;
        };
        bool is_wide = reach > IN_BLOCK;
        uint32_t from = is_wide ? 0 : first, to = is_wide ? fences_.leaf_count() : end;
        Known known;
        do {  // what a fence makes known may be communicated from others
            known = warp.clock.far;
            if (!known) return;
            known->each_communicated(from, to, counts, [&](uint32_t number, const Leaf &leaf) {
                order_behind(row, warp, reach, number, leaf);
            });
        } while (known != warp.clock.far);
    }

    // Time up to which all warps of a leaf are known, at least.
    static Time least_known(const Warp &warp, uint32_t leaf) {
        int first = leaf * LANES, end = first + LANES;
        const Place &place = warp.place;
        return first >= place.first && end <= place.first + place.count ? warp.clock.block_time : 0;
    }

    // Orders a fence behind those of the warps of a leaf that are communicated to its warp.
    void order_behind(Time row, Warp &warp, Reach reach, uint32_t number, const Leaf &leaf) {
        const Place &place = warp.place;
        const Leaf *own = warp.clock.far->leaf_of(number);
        Time least = least_known(warp, number);
        uint32_t news = own ? own->exceeded_by(leaf, least) : Leaf().exceeded_by(leaf, least);
        for (; news; news &= news - 1) {
            int i = __builtin_ctz(news), other = number * LANES + i;
            Time latest = leaf.latest(i);
            Time known = warp.clock.time_of(place, other, row - 1);
            const auto &fences = fences_.of(other);
            auto later = [](Time time, const KeptFence &each) { return time < each.from; };
            auto end = std::upper_bound(fences.begin(), fences.end(), latest, later);
            while (end-- != fences.begin() && end->row > known) {
                bool is_strong =
                    std::min(reach, end->reach) >= places_.distance(place.block, end->block);
                if (!is_strong || !is_news(*end, other, leaf, i, warp, row)) continue;
                warp.acquire(end->known(other, joins_), joins_);
                known = warp.clock.time_of(place, other, row - 1);
            }
        }
    }

    // Whether a fence is communicated to a warp, and is not in its past.
    static bool is_news(const KeptFence &fence, int other, const Leaf &leaf, int place,
                        const Warp &warp, Time now) {
        for (uint32_t left = fence.lanes; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            if (leaf.of(place, lane) >= fence.from &&
                !warp.clock.knows(warp.place, other, lane, fence.row, now - 1))
                return true;
        }
        return false;
    }

    KeptFences fences_;
    std::unordered_map<int, Block> blocks_;
    std::unordered_map<int, Past> pasts_;  // by warp
    const Places &places_;
    const std::vector<Kind> &kinds_;
    Joins &joins_;
};
