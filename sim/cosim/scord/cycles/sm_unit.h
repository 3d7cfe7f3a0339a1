// Tracker of an SM, as racetrap.rtl.scord.tracker: from transactions to segments, cycle by cycle.
#pragma once

#include "../compiled/tracker.h"
#include "streams.h"

// Packets that a port takes together: of an access, the lowest and a bit for each bank that has
// one; of fences, one for each lane that is present.
struct Segment {
    Packet packet{};
    uint32_t lanes = 0, present = 0;
    std::vector<Packet> fences;  // by fence lane

    bool is_fence() const { return packet.kind == FENCE; }
};

class SmUnit {
public:
    SmUnit(const Settings &settings, uint32_t sm)
        : settings_(settings), sm_(sm), slot_(settings.warps_per_sm) {
        launch();
    }

    // A launch forgets what was tracked.
    void launch() { tracker_.emplace(settings_, sm_); }

    const std::optional<Segment> &packet() const { return packet_.held; }
    uint64_t fencing() const { return fencing_; }

    // Whether the transaction that is offered is taken, if the packet leaves.
    bool takes(const Transaction &each, bool packet_goes) const {
        return !waits(each) && is_splitter_ready(packet_goes);
    }

    // `each`: the transaction that is taken, or null; `fenced`: the warps whose fence all banks have.
    void edge(const Transaction *each, bool packet_goes, uint64_t fenced) {
        bool may_look_up = lookup_.is_ready(does_lookup_go(packet_goes));
        bool lookup_goes = does_lookup_go(packet_goes);
        bool has_packet = lookup_.held && lookup_.held->has_packet;
        bool may_pack = packet_.is_ready(packet_goes);
        packet_.edge(packet_goes, has_packet && may_pack ? std::optional(lookup_.held->segment)
                                                         : std::nullopt);
        std::optional<Item> next;
        if (!items_.empty() && may_look_up) {
            next = std::move(items_.front());
            items_.pop_front();
        }
        lookup_.edge(lookup_goes, std::move(next));
        fencing_ &= ~fenced;
        if (each) split(*each);
    }

private:
    struct Item {
        bool has_packet;
        Segment segment;
    };

    const Settings &settings_;
    std::optional<Tracker> tracker_;
    uint32_t sm_;
    std::deque<Item> items_;  // of the transaction in the splitter
    Register<Item> lookup_;
    Register<Segment> packet_;
    uint64_t fencing_ = 0;
    std::vector<uint32_t> slot_;  // block slot of each warp's last fence

    bool does_lookup_go(bool packet_goes) const {
        return lookup_.held && (!lookup_.held->has_packet || packet_.is_ready(packet_goes));
    }

    bool is_splitter_ready(bool packet_goes) const {
        if (items_.empty()) return true;
        return items_.size() == 1 && lookup_.is_ready(does_lookup_go(packet_goes));
    }

    bool waits(const Transaction &each) const {
        if (each.kind == BLOCK_START) return false;
        if (each.kind != BARRIER) return fencing_ >> each.warp & 1;
        for (size_t warp = 0; warp < slot_.size(); warp++)
            if (fencing_ >> warp & 1 && slot_[warp] == each.slot) return true;
        return false;
    }

    void split(const Transaction &each) {
        if (each.kind == FENCE) {
            fencing_ |= uint64_t(1) << each.warp;
            slot_[each.warp] = each.slot;
        }
        int words = 1 << (settings_.granularity_bits - WORD_SHIFT);
        bool by_word = each.kind == ATOMIC && (each.lock_mask || words > 1);
        unsigned low = settings_.granularity_bits - WORD_SHIFT, high = low + settings_.lane_bits;
        tracker_->step(each, [&](const Packet &packet) {
            uint32_t lane = packet.word >> low & (settings_.words_per_cycle - 1);
            bool joins = !items_.empty() && !by_word && settings_.words_per_cycle > 1 &&
                         items_.back().segment.packet.word >> high == packet.word >> high;
            if (joins)
                items_.back().segment.lanes |= 1u << lane;
            else
                items_.push_back({true, {packet, packet.kind == FENCE ? 0 : 1u << lane, 1, {}}});
        });
        // What changes tables alone takes a place, too.
        uint64_t warps = uint64_t(each.lock_mask) << LINE_WORDS | each.mask;
        if (settings_.warps_per_sm < 64) warps &= (uint64_t(1) << settings_.warps_per_sm) - 1;
        int places = each.kind == BARRIER ? 1 : __builtin_popcountll(warps);
        if (each.kind == BARRIER || each.kind == BLOCK_START)
            items_.resize(items_.size() + places, {false, {}});
    }
};
