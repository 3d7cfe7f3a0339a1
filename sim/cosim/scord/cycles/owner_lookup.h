// Time that the banks of a port wait for the fence counters of their entries' owners, as
// racetrap.rtl.scord.shared_fence_file.
#pragma once

#include "../compiled/settings.h"

#include <vector>

// Warp and SM of the owner of each bank's entry, or one of them.
using Owners = std::vector<uint32_t>;

class OwnerLookup {
public:
    explicit OwnerLookup(const Settings &settings)
        : settings_(settings), owner_(settings.words_per_cycle),
          asked_(settings.fence_lanes << settings.fence_part_bits), later_(asked_) {
        uint32_t sms = (settings.sm_count + settings.fence_lanes - 1) / settings.fence_lanes;
        uint32_t places = sms << (settings.warp_bits - settings.fence_part_bits);
        while (mask_ + 1 < places) mask_ = 2 * mask_ + 1;
    }

    // Whether counters are missing of the banks that need some in stage 2, whose entry is perhaps
    // the result of the packet just ahead, or comes late, with that result.
    bool settle(uint32_t needs, bool follows, bool is_late) {
        follows_ = follows;
        is_late_ = is_late;
        found_ = 0;
        for (size_t bank = 0; bank < owner_.size(); bank++)
            if (has_asked_ && asked_[memory_of(owner_[bank])] == place_of(owner_[bank]))
                found_ |= 1u << bank;
        known_ = is_late ? known_before_ : follows ? was_known_ : found_ | kept_;
        missing_ = needs & ~known_;
        return missing_;
    }

    // Owners in stage 1 and which banks ask for theirs; owners in the result that comes late.
    void edge(const Owners &given, uint32_t asks, const Owners &late) {
        first_of_each(owner_, left_, later_);
        has_asked_ = !missing_ || left_;
        if (missing_)
            asked_ = later_;
        else
            first_of_each(given, asks, asked_);
        left_ = missing_;
        if (!missing_) {
            owner_ = given;
            kept_ = 0;
        } else if (is_late_) {
            owner_ = late;
            kept_ = known_before_;
        } else if (!follows_) {
            kept_ |= found_;
        }
        known_before_ = was_known_;
        was_known_ = known_;
    }

private:
    const Settings &settings_;
    Owners owner_;  // in stage 2
    std::vector<uint32_t> asked_, later_;  // of each memory: the place that is looked up
    uint32_t mask_ = 0;
    uint32_t found_ = 0, known_ = 0, missing_ = 0, was_known_ = 0, known_before_ = 0;
    uint32_t kept_ = 0, left_ = 0;
    bool has_asked_ = false, follows_ = false, is_late_ = false;

    uint32_t memory_of(uint32_t owner) const {
        uint32_t part = owner & ((1u << settings_.fence_part_bits) - 1);
        uint32_t lane = owner >> settings_.warp_bits & (settings_.fence_lanes - 1);
        return lane << settings_.fence_part_bits | part;
    }
    uint32_t place_of(uint32_t owner) const {
        uint32_t warp = owner & ((1u << settings_.warp_bits) - 1);
        uint32_t group = owner >> settings_.warp_bits >> settings_.fence_lane_bits;
        uint32_t bits = settings_.warp_bits - settings_.fence_part_bits;
        return group << bits | warp >> settings_.fence_part_bits;
    }

    // Of each memory, the first bank's owner in it that is asked for.
    void first_of_each(const Owners &owners, uint32_t asks, std::vector<uint32_t> &places) const {
        uint64_t seen[4] = {};
        for (uint32_t &place : places) place = 0;
        for (size_t bank = 0; bank < owners.size(); bank++) {
            uint32_t memory = memory_of(owners[bank]);
            if (!(asks >> bank & 1) || seen[memory / 64] >> memory % 64 & 1) continue;
            seen[memory / 64] |= uint64_t(1) << memory % 64;
            places[memory] = place_of(owners[bank]) & mask_;
        }
    }
};
