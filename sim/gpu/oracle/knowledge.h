// Knowledge: times up to which the threads of a kernel are known.  Never changed once made; what
// two have in common is stored once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "counted.h"

//: Row of an event in its kernel.
using Time = int32_t;

constexpr int LANES = 32;
using LaneTimes = std::array<Time, LANES>;

// Times of a few warps with consecutive numbers.
struct Leaf : Counted {
    struct Diverged : Counted {
        LaneTimes times;
    };

    std::array<Time, LANES> warps{};
    // By warp, ascending, its lanes of which some are known for longer.
    std::vector<std::pair<int, Ref<const Diverged>>> lanes;

    Time of(int warp, int lane) const {
        Time time = warps[warp];
        for (const auto &[number, each] : lanes)
            if (number == warp) time = std::max(time, each->times[lane]);
        return time;
    }

    // Time up to which any lane of a warp is known.
    Time latest(int warp) const {
        Time time = warps[warp];
        for (const auto &[number, each] : lanes)
            if (number == warp) time = std::max(time, *std::ranges::max_element(each->times));
        return time;
    }

    void learn(int warp, const LaneTimes &times) {
        Diverged joined;
        joined.times = times;
        auto place = std::find_if(lanes.begin(), lanes.end(),
                                  [=](const auto &each) { return each.first >= warp; });
        if (place == lanes.end() || place->first != warp) {
            lanes.insert(place, {warp, Ref<const Diverged>(new Diverged(joined))});
            return;
        }
        for (int lane = 0; lane < LANES; lane++)
            joined.times[lane] = std::max(times[lane], place->second->times[lane]);
        place->second = Ref<const Diverged>(new Diverged(joined));
    }

    bool covers(const Leaf &other) const {
        for (int warp = 0; warp < LANES; warp++)
            if (other.warps[warp] > warps[warp]) return false;
        for (const auto &[warp, each] : other.lanes)
            for (int lane = 0; lane < LANES; lane++)
                if (each->times[lane] > of(warp, lane)) return false;
        return true;
    }
};

class Knowledge;
using Known = Ref<const Knowledge>;

// Two times of each warp: up to the first it is known by causality; what it has done up to the
// second is communicated to those who know.
class Knowledge : public Counted {
public:
    explicit Knowledge(int warps) : leaves_(2 * ((warps + LANES - 1) / LANES)) {}

    // What is known by causality, as what is communicated.
    static Known communicated(const Known &known);

    // Calls with the number of each leaf whose communicated times are not all known by causality.
    template <class Visit> void each_communicated(Visit visit) const {
        for (size_t i = 0; i < half(); i++) {
            const Ref<const Leaf> &leaf = leaves_[half() + i];
            if (leaf && leaf != leaves_[i] && !(leaves_[i] && leaves_[i]->covers(*leaf)))
                visit((int)i, *leaf);
        }
    }

    // Time up to which all lanes of a warp are known.
    Time of(int warp) const {
        const Leaf *leaf = leaves_[warp / LANES].get();
        return leaf ? leaf->warps[warp % LANES] : 0;
    }
    Time of(int warp, int lane) const {
        const Leaf *leaf = leaves_[warp / LANES].get();
        return leaf ? leaf->of(warp % LANES, lane) : 0;
    }

    // Both change a copy that nobody shares yet.
    void raise(int first, int count, Time time) {
        for (int warp = first; warp < first + count; warp++) {
            Time &known = own(warp).warps[warp % LANES];
            known = std::max(known, time);
        }
    }
    void learn(int warp, const LaneTimes &times) { own(warp).learn(warp % LANES, times); }
    void forget(int first, int count) {
        for (int warp = first; warp < first + count; warp++) {
            if (!leaves_[warp / LANES]) continue;
            Leaf &leaf = own(warp);
            leaf.warps[warp % LANES] = 0;
            std::erase_if(leaf.lanes,
                          [=](const auto &each) { return each.first == warp % LANES; });
        }
    }

    // Join of both: one of the two themselves if the other adds nothing.
    static Known join(const Known &one, const Known &other) {
        if (!other || one == other) return one;
        if (!one) return other;
        auto joined = new Knowledge(*one);
        Known result(joined);
        bool is_one = true, is_other = true;
        for (size_t i = 0; i < joined->leaves_.size(); i++) {
            Ref<const Leaf> &mine = joined->leaves_[i];
            const Ref<const Leaf> &more = other->leaves_[i];
            if (mine == more) continue;
            if (!more || (mine && mine->covers(*more))) {
                is_other = false;
            } else if (!mine || more->covers(*mine)) {
                is_one = false;
                mine = more;
            } else {
                is_one = is_other = false;
                mine = both(*mine, *more);
            }
        }
        return is_one ? one : is_other ? other : result;
    }

private:
    static Ref<const Leaf> both(const Leaf &one, const Leaf &other) {
        auto leaf = new Leaf(one);
        for (int warp = 0; warp < LANES; warp++)
            leaf->warps[warp] = std::max(one.warps[warp], other.warps[warp]);
        for (const auto &[warp, each] : other.lanes) leaf->learn(warp, each->times);
        return Ref<const Leaf>(leaf);
    }

    // The leaf of a warp, as one that only this has.
    Leaf &own(int warp) {
        Ref<const Leaf> &leaf = leaves_[warp / LANES];
        if (!leaf || leaf->is_shared())
            leaf = Ref<const Leaf>(leaf ? new Leaf(*leaf) : new Leaf());
        return const_cast<Leaf &>(*leaf);
    }

    size_t half() const { return leaves_.size() / 2; }

    std::vector<Ref<const Leaf>> leaves_;
};

inline Known Knowledge::communicated(const Known &known) {
    auto moved = new Knowledge(0);
    moved->leaves_.resize(known->leaves_.size());
    std::copy_n(known->leaves_.begin(), known->half(), moved->leaves_.begin() + known->half());
    return Known(moved);
}

// Joins made lately: lanes often release many locations with one history.
class Joins {
public:
    Known join(const Known &one, const Known &other) {
        if (!other || one == other) return one;
        if (!one) return other;
        size_t hash = ((uintptr_t)one.get() * 31 + (uintptr_t)other.get()) * 0x9e3779b97f4a7c15u;
        Made &made = made_[hash >> (64 - BITS)];
        if (made.one != one || made.other != other)
            made = {one, other, Knowledge::join(one, other)};
        return made.result;
    }

private:
    static constexpr int BITS = 10;
    struct Made {
        Known one, other, result;
    };
    std::array<Made, 1 << BITS> made_;
};
