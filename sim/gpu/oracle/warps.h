// Warps of a kernel: SIMT stacks, the clocks of lanes that run or wait, and barriers.
// As simt.py, compressed.py and warp_clocks.py in racetrap.golden_model.barracuda.
#pragma once

#include <vector>

#include "knowledge.h"

// What accesses of the threads of a warp communicate to others.
struct Pasts : Counted {
    const Known common;
    const std::vector<Known> lanes;  // none if they have the same

    Pasts(const Known &common, std::vector<Known> lanes)
        : common(common), lanes(std::move(lanes)) {}

    const Known &of(int lane) const { return lanes.empty() ? common : lanes[lane]; }
};

struct Place {
    int warp, block, cluster, first, count;  // first and count: the warps of the block

    bool is_near(int other) const { return other >= first && other < first + count; }
};

// What the active lanes of a warp know.
struct Clock {
    uint32_t mask = ALL_LANES;   // lanes known up to now
    Time block_time = 0;         // time up to which all threads of the block are known
    Ref<const Diverged> others;  // up to which other lanes of the warp are known, if there are any
    Known far;                   // times known from releases

    Time own(int lane, Time now) const { return mask >> lane & 1 ? now : others->times[lane]; }

    LaneTimes own(Time now) const {
        LaneTimes times;
        for (int lane = 0; lane < LANES; lane++) times[lane] = own(lane, now);
        return times;
    }

    // Whether all lanes know the same but for the past of their own warp.
    bool is_alike(const Clock &other) const {
        return far == other.far && block_time == other.block_time && mask == other.mask &&
               mask == ALL_LANES;
    }

    bool knows(const Place &place, int warp, int lane, Time time, Time now) const {
        if (place.is_near(warp) && block_time >= time) return true;
        if (warp == place.warp && own(lane, now) >= time) return true;
        return far && far->of(warp, lane) >= time;
    }

    // Time up to which all lanes of a warp are known.
    Time time_of(const Place &place, int warp, Time now) const {
        Time time = far ? far->of(warp) : 0;
        if (place.is_near(warp)) time = std::max(time, block_time);
        return warp == place.warp && mask == ALL_LANES ? now : time;
    }

    // All that the lanes know, their own past up to now with it.
    Known publish(const Place &place, Time now, Joins &joins) const {
        return Known(causes(place, now, joins));
    }

    // What comes before by causality alone.
    Known past(const Place &place, Time now, Joins &joins) const {
        Knowledge *known = causes(place, now, joins);
        known->forget_communicated();
        return Known(known);
    }

    // Clock after a divergence: some lanes, on the other side, are known up to now only.
    Clock without(uint32_t lanes, Time now) const {
        Clock clock = *this;
        clock.others = Ref<const Diverged>(new Diverged(own(now)));
        clock.mask &= ~lanes;
        return clock;
    }

private:
    Knowledge *causes(const Place &place, Time now, Joins &joins) const {
        Known others = far;
        if (block_time)
            others = joins.join(far, joins.all_until(place.first, place.count, block_time));
        auto known = others ? new Knowledge(*others) : new Knowledge();
        if (mask == ALL_LANES) known->raise(place.warp, now);
        else known->learn(place.warp, own(now));
        return known;
    }
};

// What the threads of a warp have in common until a clock of theirs changes.
struct Team {
    bool is_checked = true, is_uniform = true;  // whether all clocks are known to be equal
    Ref<const Pasts> pasts;                     // what their accesses communicate, if that is known

    void touch() {
        is_checked = false;
        pasts = Ref<const Pasts>();
    }
};

class Warp {
public:
    Warp(Place place, uint32_t live, Team &team) : place(place), team(team), live_(live) {}

    const Place place;
    Team &team;
    uint32_t active = ALL_LANES;
    Clock clock;

    void begin_if(uint32_t mask, Time now) {
        uint32_t second = active & ~mask;
        active &= mask;
        team.touch();
        stack_.push_back({second, clock.without(active, now), live_});
    }

    void begin_else(Time now) {
        team.touch();
        Branch &branch = stack_.back();
        Clock first = clock.without(branch.lanes, now);
        clock = branch.clock;
        branch.clock = first;
        std::swap(active, branch.lanes);
    }

    // Reconverge with the side that ran first, unless all lanes of one side have exited.
    void end_if(Time now, Joins &joins) {
        team.touch();
        Branch branch = stack_.back();
        stack_.pop_back();
        Clock other = branch.clock;
        uint32_t both = active | branch.lanes;
        if (!(active & live_)) std::swap(clock, other);
        if (active & live_ && branch.lanes & live_)
            reconverge(other, branch.live & ~live_, now, joins);
        else
            left_ = joins.join(left_, other.far);
        active = both;
    }

    void exit(uint32_t mask) { live_ &= ~(mask & active); }

    // Lanes that are there but not active: none may be at a barrier.
    uint32_t absent() const { return live_ & ~active; }

    void acquire(const Known &known, Joins &joins) {
        if (!known) return;
        Known far = joins.join(clock.far, known);
        if (far == clock.far) return;
        clock.far = far;
        team.touch();
    }

    // Join of what all threads of the warp know from releases with what others know.
    Known far(Known known, Joins &joins) const {
        known = joins.join(joins.join(known, left_), clock.far);
        for (const Branch &branch : stack_) known = joins.join(known, branch.clock.far);
        return known;
    }

    void pass_barrier(Time now, const Known &far) {
        team.touch();
        left_ = Known();
        if (stack_.empty()) {
            clock = Clock();
        } else {
            for (Branch &branch : stack_) pass(branch.clock, now, far);
        }
        pass(clock, now, far);
    }

private:
    // A branch that has not reconverged.
    struct Branch {
        uint32_t lanes;  // that wait
        Clock clock;     // of them
        uint32_t live;   // lanes that had not exited at its begin
    };

    static void pass(Clock &clock, Time now, const Known &far) {
        clock.block_time = now;
        clock.far = far;
    }

    void reconverge(const Clock &other, uint32_t gone, Time now, Joins &joins) {
        Clock whole;
        LaneTimes times = clock.own(now);
        for (int lane = 0; lane < LANES; lane++)
            times[lane] = std::max(times[lane], other.own(lane, now));
        whole.mask = (clock.mask | other.mask) & ~gone;
        if (whole.mask != ALL_LANES) whole.others = Ref<const Diverged>(new Diverged(times));
        whole.block_time = std::max(clock.block_time, other.block_time);
        whole.far = joins.join(clock.far, other.far);
        clock = whole;
    }

    uint32_t live_;
    std::vector<Branch> stack_;
    Known left_;  // what lanes that have exited in a branch knew from releases
};
