// Times of a few warps, and what parts of a tree of such have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "counted.h"
#include "trace.h"

using LaneTimes = std::array<Time, LANES>;

struct Diverged : Counted {
    explicit Diverged(const LaneTimes &times) : times(times) {}

    LaneTimes times;
};

// A subtree.
class Part : public Counted {
public:
    virtual ~Part() = default;

    // Whether all that it knows is later than all that another does.
    bool is_later(const Part &other) const { return range().first >= other.range().second; }

    // Forgets what is known of its times, which change.
    void change() { range_.second = -1; }

protected:
    // Its earliest time, 0 if a warp is not known, and its latest.
    using Range = std::pair<Time, Time>;
    virtual Range find_range() const = 0;

    const Range &range() const {
        if (range_.second < 0) range_ = find_range();
        return range_;
    }

    static const Range &range_of(const Part &part) { return part.range(); }

private:
    mutable Range range_{0, -1};
};

// Times of a few warps with consecutive numbers.
struct Leaf : public Part {
    std::array<Time, LANES> warps{};
    // By warp, ascending, its lanes of which some are known for longer.
    std::vector<std::pair<int, Ref<const Diverged>>> lanes;

    Range find_range() const override {
        Range range{*std::ranges::min_element(warps), *std::ranges::max_element(warps)};
        for (const auto &[warp, each] : lanes)
            range.second = std::max(range.second, *std::ranges::max_element(each->times));
        return range;
    }

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
        auto place = std::find_if(lanes.begin(), lanes.end(),
                                  [=](const auto &each) { return each.first >= warp; });
        if (place == lanes.end() || place->first != warp) {
            lanes.insert(place, {warp, Ref<const Diverged>(new Diverged(times))});
            return;
        }
        LaneTimes joined;
        for (int lane = 0; lane < LANES; lane++)
            joined[lane] = std::max(times[lane], place->second->times[lane]);
        place->second = Ref<const Diverged>(new Diverged(joined));
    }

    // Warps of which another leaf knows more, with those whose lanes it tells apart; a bit for each.
    uint32_t exceeded_by(const Leaf &other, Time known = 0) const {
        std::array<uint8_t, LANES> is_later;
        for (int warp = 0; warp < LANES; warp++)
            is_later[warp] = other.warps[warp] > std::max(warps[warp], known);
        uint32_t later = 0;
        for (int warp = 0; warp < LANES; warp++) later |= (uint32_t)is_later[warp] << warp;
        for (const auto &[warp, each] : other.lanes) later |= 1u << warp;
        return later;
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
