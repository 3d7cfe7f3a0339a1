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
#include "trace.h"

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
        bool is_later = false;
        for (int warp = 0; warp < LANES; warp++) is_later |= other.warps[warp] > warps[warp];
        if (is_later) return false;
        for (const auto &[warp, each] : other.lanes)
            for (int lane = 0; lane < LANES; lane++)
                if (each->times[lane] > of(warp, lane)) return false;
        return true;
    }
};

class Knowledge;
using Known = Ref<const Knowledge>;

// What is known by causality, and what is communicated.
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
        return one == other || (one && other && one->leaves_ == other->leaves_);
    }

    void forget_communicated() { communicated_ = Known(); }

    // Calls with the number of each leaf that counts, and whose communicated times are not all
    // known by causality.
    template <class Counts, class Visit> void each_communicated(Counts counts, Visit visit) const {
        if (!communicated_) return;
        for (size_t i = 0; i < communicated_->leaves_.size(); i++) {
            const Leaf *leaf = communicated_->leaf_of(i);
            if (leaf && counts((int)i) && !covers(leaf_of(i), leaf)) visit((int)i, *leaf);
        }
    }

    // Time up to which all lanes of a warp are known.
    Time of(int warp) const {
        const Leaf *leaf = leaf_of(warp / LANES);
        return leaf ? leaf->warps[warp % LANES] : 0;
    }
    Time of(int warp, int lane) const {
        const Leaf *leaf = leaf_of(warp / LANES);
        return leaf ? leaf->of(warp % LANES, lane) : 0;
    }
    // Whether some warps with one leaf are all known up to a time; a bit for each.
    bool covers(int leaf, uint32_t warps, Time time) const {
        const Leaf *known = leaf_of(leaf);
        if (!known) return false;
        uint32_t late = 0;
        for (int warp = 0; warp < LANES; warp++)
            late |= (uint32_t)(known->warps[warp] < time) << warp;
        return !(late & warps);
    }

    // Both change a copy that is not shared yet.
    void raise(int first, int count, Time time) {
        for (int warp = first; warp < first + count; warp++) {
            Time &known = own(warp).warps[warp % LANES];
            known = std::max(known, time);
        }
    }
    void learn(int warp, const LaneTimes &times) { own(warp).learn(warp % LANES, times); }
    void forget(int first, int count) {
        for (int warp = first; warp < first + count; warp++) {
            if (!leaf_of(warp / LANES)) continue;
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
        Known communicated = join(one->communicated_, other->communicated_);
        size_t size = std::max(one->leaves_.size(), other->leaves_.size());
        bool is_one = communicated == one->communicated_;
        bool is_other = communicated == other->communicated_;
        for (size_t i = 0; i < size && (is_one || is_other); i++) {
            is_one = is_one && covers(one->leaf_of(i), other->leaf_of(i));
            is_other = is_other && covers(other->leaf_of(i), one->leaf_of(i));
        }
        if (is_one || is_other) return is_one ? one : other;
        auto joined = new Knowledge(*one);
        joined->communicated_ = communicated;
        joined->leaves_.resize(size);
        for (size_t i = 0; i < other->leaves_.size(); i++) {
            Ref<const Leaf> &mine = joined->leaves_[i];
            const Ref<const Leaf> &more = other->leaves_[i];
            if (covers(mine.get(), more.get())) continue;
            mine = covers(more.get(), mine.get()) ? more : both(*mine, *more);
        }
        return Known(joined);
    }

private:
    const Leaf *leaf_of(size_t number) const {
        return number < leaves_.size() ? leaves_[number].get() : nullptr;
    }

    static bool covers(const Leaf *one, const Leaf *other) {
        return !other || one == other || (one && one->covers(*other));
    }

    static Ref<const Leaf> both(const Leaf &one, const Leaf &other) {
        auto leaf = new Leaf(one);
        for (int warp = 0; warp < LANES; warp++)
            leaf->warps[warp] = std::max(one.warps[warp], other.warps[warp]);
        for (const auto &[warp, each] : other.lanes) leaf->learn(warp, each->times);
        return Ref<const Leaf>(leaf);
    }

    // The leaf of a warp, as one that only this has.
    Leaf &own(int warp) {
        if (leaves_.size() <= (size_t)warp / LANES) leaves_.resize(warp / LANES + 1);
        Ref<const Leaf> &leaf = leaves_[warp / LANES];
        if (!leaf || leaf->is_shared())
            leaf = Ref<const Leaf>(leaf ? new Leaf(*leaf) : new Leaf());
        return const_cast<Leaf &>(*leaf);
    }

    std::vector<Ref<const Leaf>> leaves_;  // of causality; none if nothing is known
    Known communicated_;
};

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
