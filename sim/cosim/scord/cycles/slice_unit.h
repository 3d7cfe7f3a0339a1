// Banks of a metadata port, as racetrap.rtl.scord.detector_bank with .gpu.metadata_accessor: from
// segments to steps and AXI4 transfers, cycle by cycle.
#pragma once

#include "../compiled/detector_bank.h"
#include "owner_lookup.h"
#include "sm_unit.h"
#include "write_back.h"

// A segment in flight.  What its packets find and leave behind follows from their order alone.
struct Slot {
    uint32_t lanes = 0, present = 0;
    bool is_fence = false, is_monitored = false, is_changed = false;
    bool is_forwarded = false, is_pending = false;
    uint32_t source = 0;
    uint64_t index = 0, address = 0;
    Owners before, after;
};

// A stage of the check pipeline.
struct Stage {
    bool valid = false, is_forwarded = false;
    uint32_t slot = 0, source = 0;

    bool has(const Stage &other) const { return valid && slot == other.source; }
};

class SliceUnit {
public:
    SliceUnit(const Settings &settings, const std::vector<Region> &regions)
        : settings_(settings), regions_(regions), fifo_(settings.packet_fifo_depth),
          slots_(settings.outstanding), none_(settings.words_per_cycle), given_(none_),
          answers_(settings.outstanding, none_), results_(answers_), read_answer_(none_),
          read_result_(none_), lookup_of_owners_(settings) {
        launch();
    }

    // A launch forgets all metadata and fences.
    void launch() {
        metadata_ = std::make_unique<Metadata>();
        bank_ = std::make_unique<DetectorBank>(settings_, regions_, *metadata_);
    }

    bool takes() const { return fifo_.is_ready(); }

    void settle(SliceCycle &port) {
        write_back_.settle(port, [&](uint64_t at) { return slot(at).is_changed; });
        settle_pipeline(port);
        port.offers_read = is_noted_ && needs_read_;
        port.read_id = noted_slot_;
        port.read_address = slots_[noted_slot_].address;
        bool is_full = claimed_ - retired_ == slots_.size();
        takes_located_ = !is_full && (!is_noted_ || port.takes_read);
        if (!settings_.merge_in_flight && located_.held && takes_located_)
            takes_located_ = !find(*located_.held);
        takes_packet_ = fifo_.out && located_.is_ready(takes_located_);
        checks_ = checked_ != noted_ && !slot(checked_).is_pending && !waits_;
    }

    void edge(const SliceCycle &port, std::optional<Segment> packet) {
        edge_pipeline();
        write_back_.edge(port, stage_4_.valid, [&](uint64_t at) { return slot(at).address; });
        edge_stages();
        if (is_noted_) slots_[noted_slot_].is_pending = needs_read_;
        if (port.answers_read) {
            slots_[port.answered_id].is_pending = false;
            answers_[port.answered_id] = slots_[port.answered_id].before;
        }
        edge_window(port);
        located_.edge(takes_located_, takes_packet_ ? fifo_.out : std::nullopt);
        fifo_.edge(takes_packet_, std::move(packet));
    }

private:
    const Settings &settings_;
    const std::vector<Region> &regions_;
    std::unique_ptr<Metadata> metadata_;
    std::unique_ptr<DetectorBank> bank_;
    Fifo<Segment> fifo_;
    Register<Segment> located_;
    std::vector<Slot> slots_;
    std::unordered_map<uint64_t, uint32_t> newest_;  // by index: the slot that last claimed it
    uint64_t claimed_ = 0, noted_ = 0, checked_ = 0, retired_ = 0;
    bool is_noted_ = false, needs_read_ = false;
    uint32_t noted_slot_ = 0;
    WriteBack write_back_;
    // The pipeline, and what its memories hold: stale values are looked up as well.
    Stage taken_, lookup_, request_, stage_4_, older_;
    Owners none_, given_;
    std::vector<Owners> answers_, results_;
    Owners read_answer_, read_result_;
    OwnerLookup lookup_of_owners_;
    bool takes_located_ = false, takes_packet_ = false, checks_ = false, waits_ = false;

    Slot &slot(uint64_t position) { return slots_[position % slots_.size()]; }

    const uint32_t *find(const Segment &segment) const {
        uint64_t index, tag;
        if (segment.is_fence() || !bank_->locate(segment.packet.word << WORD_SHIFT, index, tag))
            return nullptr;
        auto found = newest_.find(index / settings_.words_per_cycle);
        return found == newest_.end() ? nullptr : &found->second;
    }

    void settle_pipeline(SliceCycle &port) {
        const Slot &made = slots_[stage_4_.slot];
        port.steps = port.fences = 0;
        if (stage_4_.valid && made.is_fence) {
            if (made.present & 1) port.steps = (1u << settings_.words_per_cycle) - 1;
            port.fences = made.present >> 1;
        } else if (stage_4_.valid) {
            port.steps = made.lanes;
        }
        waits_ = false;
        if (settings_.words_per_cycle == 1) return;
        const Slot &needing = slots_[lookup_.slot];
        uint32_t needs = lookup_.valid && needing.is_monitored ? needing.lanes : 0;
        waits_ = lookup_of_owners_.settle(needs, lookup_.is_forwarded && request_.has(lookup_),
                                          lookup_.is_forwarded && stage_4_.has(lookup_));
    }

    // What stage 1 has of each bank's owner, and what the memories answer next.
    void edge_pipeline() {
        if (settings_.words_per_cycle == 1) return;
        given_ = read_answer_;
        if (taken_.is_forwarded) {
            given_ = read_result_;
            if (older_.has(taken_)) given_ = slots_[older_.slot].after;
            if (stage_4_.has(taken_)) given_ = slots_[stage_4_.slot].after;
        }
        lookup_of_owners_.edge(given_, slots_[taken_.slot].lanes, slots_[stage_4_.slot].after);
        uint32_t next = checked_ % slots_.size();
        read_answer_ = answers_[waits_ ? taken_.slot : next];
        read_result_ = results_[waits_ ? taken_.source : slots_[next].source];
        if (stage_4_.valid) results_[stage_4_.slot] = slots_[stage_4_.slot].after;
    }

    void edge_stages() {
        uint32_t next = checked_ % slots_.size();
        older_ = stage_4_;
        stage_4_ = request_;
        request_ = lookup_;
        request_.valid = lookup_.valid && !waits_;
        if (waits_) return;
        lookup_ = taken_;
        taken_ = {checks_, slots_[next].is_forwarded, next, slots_[next].source};
    }

    void edge_window(const SliceCycle &port) {
        noted_ = claimed_;
        checked_ += checks_;
        bool accepts = located_.held && takes_located_;
        const uint32_t *found = accepts ? find(*located_.held) : nullptr;
        bool is_held = found;
        uint32_t source = found ? *found : 0;
        if (write_back_.retires()) {
            const Slot &leaving = slot(retired_);
            auto of_index = newest_.find(leaving.index);
            bool is_newest = leaving.is_monitored && of_index != newest_.end();
            if (is_newest && of_index->second == retired_ % slots_.size()) newest_.erase(of_index);
            retired_++;
        }
        if (!(is_noted_ && needs_read_) || port.takes_read) is_noted_ = accepts;
        if (!accepts) return;
        noted_slot_ = claimed_++ % slots_.size();
        Slot &own = slots_[noted_slot_];
        claim(own, *located_.held);
        own.is_forwarded = is_held;
        own.source = source;
        needs_read_ = own.is_monitored && !is_held;
        if (own.is_monitored) newest_[own.index] = noted_slot_;
    }

    uint32_t owner_of(uint64_t entry) const {
        auto part = [&](const Field &at) {
            return entry >> at.offset & ((uint64_t(1) << at.width) - 1);
        };
        return part(settings_.entry.block) >> settings_.slot_bits << settings_.warp_bits |
               part(settings_.entry.warp);
    }

    // The banks' steps, made in the order in which segments come.
    void claim(Slot &own, const Segment &segment) {
        own.is_fence = segment.is_fence();
        own.lanes = segment.lanes;
        own.present = segment.present;
        own.is_changed = false;
        own.before = own.after = none_;
        for (size_t lane = 0; lane < segment.fences.size(); lane++)
            if (segment.present >> lane & 1) bank_->step(segment.fences[lane], false);
        uint64_t index, tag;
        own.is_monitored = !own.is_fence &&
                           bank_->locate(segment.packet.word << WORD_SHIFT, index, tag);
        if (!own.is_monitored) return;
        uint64_t words = settings_.words_per_cycle, first = index & ~(words - 1);
        own.index = index / words;
        own.address = settings_.metadata_base + first * sizeof(uint64_t);
        unsigned low = settings_.granularity_bits - WORD_SHIFT;
        uint64_t of_lane = (words - 1) << low;
        for (uint64_t lane = 0; lane < words; lane++) {
            own.before[lane] = own.after[lane] = owner_of(metadata_->look_up(first + lane));
            if (!(segment.lanes >> lane & 1)) continue;
            Packet packet = segment.packet;
            packet.word = (packet.word & ~of_lane) | lane << low;
            Step step = bank_->step(packet, false);
            own.after[lane] = owner_of(step.after);
            own.is_changed |= step.after != step.before;
        }
    }
};
