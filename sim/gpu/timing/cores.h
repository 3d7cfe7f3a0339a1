// Cores: the warps of each SM, its greedy-then-oldest schedulers, load/store unit and L1, and the
// network's ports at the SM.
#pragma once

#include <deque>

#include "caches.h"
#include "detector.h"
#include "program.h"

class Cores {
public:
    Cores(Machine &machine, Detector &detector, const DetectorArrays *given)
        : m_(machine), settings_(machine.settings), detector_(detector), given_(given),
          segments_log2_(LINE_LOG2 - machine.settings.segment_log2), sets_(settings_.l1_sets) {
        for (uint64_t sm = 0; sm < settings_.sms; sm++) sms_.emplace_back(settings_);
    }

    // Caches begin empty; of the blocks of a slot each begins when the one before it has ended.
    void begin(const Program &program) {
        program_ = &program;
        warps_.clear();
        blocks_.clear();
        live_ = 0;
        for (Sm &sm : sms_) {
            sm.cache.clear();
            sm.slots.clear();
        }
        add_blocks();
    }

    // Blocks that the program has more than before, between two steps.
    void add_blocks() {
        warps_.resize(program_->warps.size());
        for (uint32_t number = blocks_.size(); number < program_->blocks.size(); number++) {
            const Block &block = program_->blocks[number];
            blocks_.emplace_back();
            live_++;
            Sm &sm = sms_[block.sm];
            if (sm.slots.size() <= block.slot) sm.slots.resize(block.slot + 1);
            sm.slots[block.slot].push_back(number);
            if (sm.slots[block.slot].size() == 1) place(number);
        }
    }

    bool has_ended() const { return !live_; }

    // The warp whose next instruction is wanted first of all, if there is one.
    uint32_t wants() const { return wanting_.empty() ? NONE : wanting_.front(); }

    // The warp that was wanted first has an instruction now, or has come to its end.
    void give() {
        uint32_t warp = wanting_.front();
        wanting_.pop_front();
        if (warps_[warp].next == program_->warps[warp].size()) return end(warps_[warp]);
        wake(warp);
    }

    // The warp can go on: it is ready for its scheduler, wants an instruction, or is at its end.
    // Steps wake warps last, so that a warp which has to be asked for goes on as another does.
    void wake(uint32_t warp) {
        Warp &own = warps_[warp];
        if (own.next == program_->warps[warp].size()) {
            if (program_->is_open) return wanting_.push_back(warp);
            return end(own);
        }
        Scheduler &scheduler = sms_[own.sm].schedulers[own.scheduler];
        scheduler.ready.push_back(warp);
        if (!scheduler.is_busy) schedule(own.sm, own.scheduler);
    }

    // The warp that went last goes on, or the oldest that is ready.
    void schedule(uint32_t sm, uint32_t number) {
        Scheduler &own = sms_[sm].schedulers[number];
        own.is_busy = !own.ready.empty();
        if (!own.is_busy) return;
        size_t chosen = 0;
        for (size_t place = 0; place < own.ready.size(); place++) {
            if (own.ready[place] < own.ready[chosen]) chosen = place;
            if (own.ready[place] != own.last) continue;
            chosen = place;
            break;
        }
        own.last = own.ready[chosen];
        own.ready.erase(own.ready.begin() + chosen);
        const Instruction &next = instruction(own.last);
        m_.counts.instructions += next.gap + 1;
        m_.at(now() + next.gap, ISSUE, own.last);
    }

    void issue(uint32_t warp) {
        Warp &own = warps_[warp];
        Does does = instruction(warp).does;
        if (does == Does::BARRIER) {
            reach_barrier(warp);
        } else if (does == Does::FENCE || does == Does::DEVICE_FENCE) {
            own.is_told = tell(own.sm, instruction(warp), FENCED, warp, true);
            own.is_fencing = own.unacknowledged || own.is_told;
            if (!own.is_fencing) pass_fence(warp);
        } else {
            sms_[own.sm].queue.push_back(warp);
            start(own.sm);
        }
        // Behind what lets the warp go on, which then goes first.
        m_.at(now() + 1, SCHEDULE, own.sm, own.scheduler);
    }

    // The detector has a fence of the warp.
    void fenced(uint32_t warp) {
        Warp &own = warps_[warp];
        own.is_told = false;
        if (!own.unacknowledged) pass_fence(warp);
    }

    // The detector has taken what the unit's instruction tells it.
    void taken(uint32_t sm) {
        sms_[sm].is_told = false;
        if (sms_[sm].is_done) unit_done(sm);
    }

    // The load/store unit is done with an instruction, unless that waits for the detector.
    void unit_done(uint32_t sm) {
        Sm &own = sms_[sm];
        own.is_done = own.is_told;
        if (own.is_told) return;
        uint32_t warp = own.queue.front();
        own.queue.pop_front();
        own.is_busy = false;
        Warp &of = warps_[warp];
        of.is_in_unit = false;
        start(sm);
        go_on(warp);
    }

    // Hits in the L1 of a warp's load have their data.
    void hits(uint32_t warp) { answer(warp); }

    // A packet is back at an SM's port, which takes a flit a cycle.
    void back(uint32_t sm, uint32_t id) {
        Sm &own = sms_[sm];
        own.in_free = std::max(now(), own.in_free) + m_.flits_back(m_.requests[id].asks);
        m_.at(own.in_free, DELIVER, sm, id);
    }

    void deliver(uint32_t sm, uint32_t first) {
        Request request = m_.requests[first];
        m_.counts.delivered++;
        if (request.asks == Asks::STORE) {
            Warp &own = warps_[request.warp];
            if (!--own.unacknowledged && own.is_fencing && !own.is_told) pass_fence(request.warp);
        } else if (request.asks != Asks::LOAD) {
            answer(request.warp);
        } else {
            fill(sms_[sm], request.segment);
            start(sm);
            for (uint32_t id = first; id != NONE;) {
                Request each = m_.requests[id];
                answer(each.warp);
                if (id != first) m_.release(id);
                id = each.at_l1.next;
            }
        }
        m_.release(first);
    }

private:
    struct Warp {
        size_t next = 0;
        uint32_t sm = 0, scheduler = 0, block = 0;
        uint32_t unanswered = 0;      // packets that a load or atomic waits for
        uint32_t unacknowledged = 0;  // packets of stores
        bool is_fencing = false, is_in_unit = false, is_at_barrier = false;
        bool is_told = false;  // the detector of its fence, which not all banks have
    };

    struct BlockState {
        uint32_t live = 0, at_barrier = 0;
    };

    struct Scheduler {
        std::vector<uint32_t> ready;
        uint32_t last = NONE;
        bool is_busy = false;
    };

    struct Sm {
        explicit Sm(const Settings &settings)
            : schedulers(settings.schedulers), cache(settings.l1_sets, settings.l1_ways),
              leaves(settings.injection_packets) {}
        std::vector<Scheduler> schedulers;
        Cache cache;
        InFlight missing;
        std::deque<uint32_t> queue;  // warps whose instruction the load/store unit has or gets
        bool is_busy = false;
        bool is_told = false;  // the detector of the instruction, which it has not taken
        bool is_done = false;  // all but that
        std::vector<Time> leaves;  // when the last packets of the injection queue leave it
        size_t oldest = 0;         // of these
        Time out_free = 0, in_free = 0;
        std::vector<std::deque<uint32_t>> slots;
    };

    Time now() const { return m_.events.now(); }
    const Instruction &instruction(uint32_t warp) const {
        return program_->warps[warp][warps_[warp].next];
    }
    uint8_t bit_of(uint64_t segment) const {
        return 1 << (segment & ((1 << segments_log2_) - 1));
    }
    CacheLine *find(Sm &own, uint64_t segment) {
        uint64_t line = segment >> segments_log2_;
        CacheLine *found = own.cache.find(sets_.rest(line), line);
        return found && found->valid & bit_of(segment) ? found : nullptr;
    }

    void place(uint32_t number) {
        const Block &block = program_->blocks[number];
        blocks_[number].live = block.warps;
        Time begins = now() + delay_of(number);
        tell(block.sm, block, NOTHING, 0);
        for (uint32_t warp = block.first_warp; warp < block.first_warp + block.warps; warp++) {
            Warp &own = warps_[warp];
            own.sm = block.sm;
            own.block = number;
            own.scheduler = warp % settings_.schedulers;
            m_.at(begins, WAKE, warp);
        }
    }

    // Up to 255 cycles, spread evenly over the blocks; none in schedule 0.
    Time delay_of(uint32_t block) const {
        return (uint64_t(block) + 1) * settings_.schedule * 0x9e3779b97f4a7c15 >> 56;
    }

    void end(const Warp &warp) {
        BlockState &state = blocks_[warp.block];
        if (--state.live) {
            if (state.at_barrier == state.live) open_barrier(warp.block);
            return;
        }
        live_--;
        std::deque<uint32_t> &slot = sms_[warp.sm].slots[program_->blocks[warp.block].slot];
        slot.pop_front();
        if (!slot.empty()) place(slot.front());
    }

    void proceed(uint32_t warp) {
        warps_[warp].next++;
        m_.at(now() + 1, WAKE, warp);
    }

    void pass_fence(uint32_t warp) {
        Warp &own = warps_[warp];
        if (instruction(warp).does == Does::DEVICE_FENCE) sms_[own.sm].cache.clear();
        own.is_fencing = false;
        proceed(warp);
    }

    void reach_barrier(uint32_t warp) {
        BlockState &state = blocks_[warps_[warp].block];
        warps_[warp].is_at_barrier = true;
        if (++state.at_barrier == state.live) open_barrier(warps_[warp].block);
    }

    void open_barrier(uint32_t number) {
        const Block &block = program_->blocks[number];
        blocks_[number].at_barrier = 0;
        const std::vector<Instruction> &first = program_->warps[block.first_warp];
        if (warps_[block.first_warp].next < first.size())
            tell(block.sm, first[warps_[block.first_warp].next], NOTHING, 0);
        for (uint32_t each = block.first_warp; each < block.first_warp + block.warps; each++) {
            if (!warps_[each].is_at_barrier) continue;
            warps_[each].is_at_barrier = false;
            proceed(each);
        }
    }

    void answer(uint32_t warp) {
        warps_[warp].unanswered--;
        go_on(warp);
    }

    void go_on(uint32_t warp) {
        Warp &own = warps_[warp];
        if (own.unanswered || own.is_in_unit) return;
        own.next++;
        wake(warp);
    }

    // Whether there is a detector, and something to tell it of an instruction or a block.
    template <class Telling>
    bool tell(uint32_t sm, const Telling &of, What then, uint32_t who, bool is_fence = false) {
        if (!detector_.is_there() || !of.told) return false;
        uint32_t slot = 0;
        if constexpr (requires { of.does; }) slot = of.slot;
        for (uint32_t place = 0; place < of.told; place++) {
            uint64_t number = program_->told[of.first_told + place];
            detector_.tell(sm, {given_->words + number * given_->width, who, then,
                                place + 1 == of.told, is_fence, slot});
        }
        return true;
    }

    // Whether the L1 has room for all misses of a load.
    bool has_room(Sm &own, const Instruction &load) {
        uint64_t more = own.missing.size();
        for (uint32_t place = load.first; place < load.first + load.count; place++) {
            uint64_t segment = program_->packets[place].segment;
            if (find(own, segment)) continue;
            uint32_t *first = own.missing.find(segment);
            if (first && m_.requests[*first].at_l1.count >= settings_.l1_merges) return false;
            more += !first;
        }
        return more <= settings_.l1_mshrs;
    }

    // The unit takes the instruction ahead: one packet a cycle. All of its lookups are at once.
    void start(uint32_t sm) {
        Sm &own = sms_[sm];
        if (own.is_busy || own.queue.empty()) return;
        uint32_t warp = own.queue.front();
        const Instruction &next = instruction(warp);
        if (next.does == Does::LOAD && !has_room(own, next)) return;
        own.is_busy = warps_[warp].is_in_unit = true;
        own.is_told = tell(sm, next, TAKEN, sm);
        Time time = now(), last_hit = 0;
        for (uint32_t place = next.first; place < next.first + next.count; place++, time++) {
            if (next.does == Does::LOAD)
                time = load(own, sm, warp, program_->packets[place], time, last_hit);
            else
                time = pass(own, sm, warp, next.does, program_->packets[place], time);
        }
        if (last_hit) {
            warps_[warp].unanswered++;
            m_.at(last_hit + settings_.l1_cycles, HITS, warp);
        }
        m_.at(std::max(time, now() + 1), LSU_DONE, sm);
    }

    Time load(Sm &own, uint32_t sm, uint32_t warp, const Packet &packet, Time time,
              Time &last_hit) {
        Request request{.segment = packet.segment, .words = packet.words, .warp = warp, .sm = sm,
                        .asks = Asks::LOAD};
        m_.counts.l1_loads++;
        CacheLine *found = find(own, packet.segment);
        uint32_t *first = found ? nullptr : own.missing.find(packet.segment);
        if (found) {
            own.cache.touch(found);
            m_.counts.l1_hits++;
            last_hit = std::max<Time>(time, 1);
            return tell(own, request, time);
        }
        warps_[warp].unanswered++;
        if (!first) {
            uint32_t id = m_.take(request);
            own.missing.add(packet.segment, id);
            return inject(own, id, time);
        }
        m_.counts.l1_merges++;
        request.asks = Asks::MERGED;
        uint32_t id = m_.take(request);
        Waiting &head = m_.requests[*first].at_l1;
        head.count++;
        m_.requests[id].at_l1.next = head.next;
        head.next = id;
        return tell(own, request, time);
    }

    // The detector receives what needs no packet in one of its own.
    Time tell(Sm &own, Request request, Time time) {
        if (!settings_.detects) return time;
        request.asks = Asks::CHECK;
        uint32_t id = m_.take(request);
        if (settings_.lhd) return inject(own, id, time);
        m_.at(time, CHECKED, m_.slice_of(request.segment), id);
        return time;
    }

    // Stores and atomics evict from the L1, which volatile loads bypass.
    Time pass(Sm &own, uint32_t sm, uint32_t warp, Does does, const Packet &packet, Time time) {
        Asks asks = does == Does::ATOMIC  ? Asks::ATOMIC
                    : does == Does::STORE ? Asks::STORE
                                          : Asks::VOLATILE_LOAD;
        if (asks != Asks::VOLATILE_LOAD)
            if (CacheLine *found = find(own, packet.segment))
                found->valid &= ~bit_of(packet.segment);
        (asks == Asks::STORE ? warps_[warp].unacknowledged : warps_[warp].unanswered)++;
        return inject(own, m_.take({.segment = packet.segment, .words = packet.words,
                                    .warp = warp, .sm = sm, .asks = asks}), time);
    }

    // A packet enters the injection queue, when there is room; the time at which it has.
    Time inject(Sm &own, uint32_t id, Time time) {
        const Request &request = m_.requests[id];
        Time &leaves = own.leaves[own.oldest];
        if (++own.oldest == own.leaves.size()) own.oldest = 0;
        if (leaves > time) m_.counts.injection_waits += leaves - time;
        time = std::max(time, leaves);
        Time departs = std::max(time, own.out_free);
        own.out_free = leaves = departs + m_.flits_out(request.asks);
        m_.counts.packets_injected++;
        m_.counts.flits += m_.flits_out(request.asks);
        m_.at(departs + settings_.hop_cycles, ARRIVE, m_.slice_of(request.segment), id);
        return time;
    }

    void fill(Sm &own, uint64_t segment) {
        uint64_t line = segment >> segments_log2_, set = sets_.rest(line);
        own.missing.remove(segment);
        CacheLine *at = own.cache.victim(set, line);
        if (!own.cache.holds(at) || at->line != line) own.cache.place(at, line);
        own.cache.touch(at)->valid |= bit_of(segment);
    }

    Machine &m_;
    const Settings &settings_;
    Detector &detector_;
    const DetectorArrays *given_;
    int segments_log2_;
    const Divisor sets_;
    const Program *program_ = nullptr;
    std::vector<Sm> sms_;
    std::vector<Warp> warps_;
    std::vector<BlockState> blocks_;
    std::deque<uint32_t> wanting_;  // warps of an open program that have no instruction
    size_t live_ = 0;
};
