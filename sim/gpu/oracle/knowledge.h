// Knowledge: what comes before by causality, and what is communicated.
#pragma once

#include "warp_times.h"

class Knowledge;
using Known = Ref<const Knowledge>;

// Times up to which the threads of a kernel are known.  Never changed once it is shared.
class Knowledge : public Counted {
public:
    // Nothing but what is communicated.
    static Known of_communicated(const Known &communicated) {
        auto known = new Knowledge();
        known->communicated_ = communicated;
        return Known(known);
    }

    // Whether two know the same by causality, or nothing.
    static bool is_same_causality(const Known &one, const Known &other) {
        return one == other || (one && other && one->times_ == other->times_);
    }

    void forget_communicated() { communicated_ = Known(); }

    // Calls with each leaf whose number is in a range and counts, if its communicated times are not
    // all known by causality.
    template <class Counts, class Visit>
    void each_communicated(uint32_t first, uint32_t end, Counts counts, Visit visit) const {
        if (!communicated_) return;
        communicated_->times_.each_leaf(first, end, [&](uint32_t number, const Leaf &leaf) {
            if (!counts(number)) return;
            const Leaf *known = times_.leaf_of(number);
            if (!known || !known->covers(leaf)) visit(number, leaf);
        });
    }

    // Times of a few warps, if any of them is known.
    const Leaf *leaf_of(uint32_t number) const { return times_.leaf_of(number); }

    // Time up to which all lanes of a warp are known.
    Time of(int warp) const {
        const Leaf *leaf = times_.leaf_of(warp / LANES);
        return leaf ? leaf->warps[warp % LANES] : 0;
    }
    Time of(int warp, int lane) const {
        const Leaf *leaf = times_.leaf_of(warp / LANES);
        return leaf ? leaf->of(warp % LANES, lane) : 0;
    }
    // Whether some warps with one leaf are all known up to a time; a bit for each.
    bool covers(int leaf, uint32_t warps, Time time) const {
        const Leaf *known = times_.leaf_of(leaf);
        if (!known) return false;
        uint32_t late = 0;
        for (int warp = 0; warp < LANES; warp++)
            late |= (uint32_t)(known->warps[warp] < time) << warp;
        return !(late & warps);
    }

    // All change a copy that is not shared yet.
    void raise(int warp, Time time) {
        Time &known = times_.own(warp / LANES).warps[warp % LANES];
        known = std::max(known, time);
    }
    void raise(int first, int count, Time time) {
        for (int warp = first; warp < first + count; warp++) raise(warp, time);
    }
    void learn(int warp, const LaneTimes &times) {
        times_.own(warp / LANES).learn(warp % LANES, times);
    }
    void forget(int first, int count) {
        for (int warp = first; warp < first + count; warp++) {
            int leaf = warp / LANES, place = warp % LANES;
            if (!place && warp + LANES <= first + count) {
                times_.forget(leaf);
                warp += LANES - 1;
            } else if (times_.leaf_of(leaf)) {
                Leaf &own = times_.own(leaf);
                own.warps[place] = 0;
                std::erase_if(own.lanes, [=](const auto &each) { return each.first == place; });
            }
        }
    }

    // Whether one knows all that another does.
    static bool covers(const Known &one, const Known &other) {
        if (!other || one == other) return true;
        return one && one->times_.covers(other->times_) &&
               covers(one->communicated_, other->communicated_);
    }

    const Known &communicated() const { return communicated_; }

    // Join of two, given that of what is communicated: one of the two if the other adds nothing.
    static Known join(const Known &one, const Known &other, const Known &communicated) {
        WarpTimes times = WarpTimes::join(one->times_, other->times_);
        auto is_all_of = [&](const Knowledge &each) {
            return communicated == each.communicated_ && times == each.times_;
        };
        if (is_all_of(*one)) return one;
        if (is_all_of(*other)) return other;
        auto joined = new Knowledge();
        joined->times_ = std::move(times), joined->communicated_ = communicated;
        return Known(joined);
    }

private:
    WarpTimes times_;  // by causality
    Known communicated_;
};

// What has been made lately: lanes often release many locations with one history, and the threads of
// a block know each other up to one time.
class Joins {
public:
    Known join(const Known &one, const Known &other) {
        if (!other || one == other) return one;
        if (!one) return other;
        size_t hash = ((uintptr_t)one.get() * 31 + (uintptr_t)other.get()) * 0x9e3779b97f4a7c15u;
        Made &made = made_[hash >> (64 - BITS)];
        if (made.one == one && made.other == other) return made.result;
        Known communicated = join(one->communicated(), other->communicated());
        return (made = {one, other, Knowledge::join(one, other, communicated)}).result;
    }

    // Some warps up to a time.
    Known all_until(int first, int count, Time time) {
        uint32_t hash = ((uint32_t)first * 31 + (uint32_t)time) * 0x9e3779b9u;
        Until &until = until_[hash >> (32 - UNTIL_BITS)];
        if (until.first == first && until.count == count && until.time == time) return until.result;
        auto made = new Knowledge();
        made->raise(first, count, time);
        return (until = {first, count, time, Known(made)}).result;
    }

private:
    static constexpr int BITS = 6, UNTIL_BITS = 8;
    struct Made {
        Known one, other, result;
    };
    struct Until {
        int first = -1, count = 0;
        Time time = 0;
        Known result;
    };
    std::array<Made, 1 << BITS> made_;
    std::array<Until, 1 << UNTIL_BITS> until_;
};
