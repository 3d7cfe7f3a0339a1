// Memory: the network's ports at the L2 slices, the slices, the DRAM channels, and the detector
// without time of its own, which reads and writes an entry of metadata for each word.
#pragma once

#include <deque>

#include "caches.h"
#include "detector.h"
#include "dram.h"

class Memory {
public:
    Memory(Machine &machine, Detector &detector)
        : m_(machine), settings_(machine.settings), detector_(detector),
          segments_log2_(LINE_LOG2 - machine.settings.segment_log2), sets_(settings_.l2_sets),
          core_mhz_(settings_.core_mhz), dram_mhz_(settings_.dram_mhz) {
        for (uint64_t slice = 0; slice < m_.slices.number; slice++) slices_.emplace_back(settings_);
        for (uint64_t each = 0; each < settings_.channels; each++)
            channels_.emplace_back(settings_);
        wakes_.resize(settings_.channels);
    }

    // The head of a packet is at a slice's port, which passes on a flit a cycle.
    void arrive(uint32_t slice, uint32_t id) {
        Slice &own = slices_[slice];
        own.port_free = std::max(now(), own.port_free) + m_.flits_out(m_.requests[id].asks);
        m_.counts.packets_ejected++;
        bool is_check = m_.requests[id].asks == Asks::CHECK;
        m_.at(own.port_free, is_check ? CHECKED : ACCESS, slice, id);
    }

    // What the detector has of an access that is at its slice, or hits in an L1.
    void checked(uint32_t id) {
        check(m_.requests[id]);
        m_.release(id);
    }

    void access(uint32_t slice, uint32_t id) {
        const Request &request = m_.requests[id];
        if (request.asks < Asks::READ_ENTRY) check(request);
        Slice &own = slices_[slice];
        m_.counts.l2_requests++;
        if (!own.stalled.empty() || !look_up(own, slice, id)) own.stalled.push_back(id);
    }

    // The data of a request are there.
    void served(uint32_t slice, uint32_t id) {
        Request &request = m_.requests[id];
        if (request.asks == Asks::READ_ENTRY) {
            if (settings_.merges_in_flight) checking_.remove(line_of(request.segment));
            request.asks = Asks::WRITE_ENTRY;
            m_.at(now() + 1, ACCESS, slice, id);
            return;
        }
        if (request.asks > Asks::WRITE_ENTRY) {
            detector_.served(request);
            m_.release(id);
            return;
        }
        Slice &own = slices_[slice];
        Time leaves = std::max(now(), own.reply_free);
        own.reply_free = leaves + m_.flits_back(request.asks);
        m_.counts.replies++;
        m_.at(leaves + settings_.hop_cycles, RETURN, request.sm, id);
    }

    void miss(uint32_t slice, uint32_t id) {
        to_dram(slice, line_of(m_.requests[id].segment) << segments_log2_, id, LINE_LOG2);
    }

    // DRAM clocks up to this core cycle.
    void channel(uint32_t number) {
        Channel &own = channels_[number];
        if (now() != wakes_[number]) return;  // what came later has woken it before
        while (!own.is_idle() && core_time(own.next()) <= now())
            own.step(m_.counts, [&](const DramRequest &request, Time when) {
                if (request.id == NONE) return;
                m_.at(core_time(when) + settings_.dram_cycles, FILL, request.slice, request.id);
            });
        if (!own.is_idle()) wake(number);
    }

    // A line has come from DRAM.
    void fill(uint32_t slice, uint32_t first) {
        Slice &own = slices_[slice];
        uint64_t number = line_of(m_.requests[first].segment);
        CacheLine *line = place(own, slice, number);
        own.missing.remove(number);
        m_.counts.l2_fills++;
        for (uint32_t id = first, next; id != NONE; id = next) {
            next = m_.requests[id].at_l2.next;
            line->dirty |= m_.requests[id].asks == Asks::ATOMIC;
            served(slice, id);
        }
        while (!own.stalled.empty() && look_up(own, slice, own.stalled.front()))
            own.stalled.pop_front();
    }

private:
    struct Slice {
        explicit Slice(const Settings &settings) : cache(settings.l2_sets, settings.l2_ways) {}
        Cache cache;
        InFlight missing;
        std::deque<uint32_t> stalled;
        Time port_free = 0, access_free = 0, reply_free = 0;
    };

    Time now() const { return m_.events.now(); }
    void wake(uint32_t number) {
        wakes_[number] = core_time(channels_[number].next());
        m_.at(wakes_[number], CHANNEL, number);
    }
    // The first core cycle that begins no earlier than a DRAM clock, and the reverse.
    Time core_time(Time clock) const {
        return dram_mhz_.quotient(clock * core_mhz_.number + dram_mhz_.number - 1);
    }
    Time dram_time(Time cycle) const {
        return core_mhz_.quotient(cycle * dram_mhz_.number + core_mhz_.number - 1);
    }
    uint64_t line_of(uint64_t segment) const { return segment >> segments_log2_; }
    // Bytes of a slice before an address, if its chunks lay one behind the other.
    uint64_t local(uint64_t address) const {
        return m_.slices.quotient(address >> Machine::INTERLEAVE_LOG2)
                   << Machine::INTERLEAVE_LOG2 |
               (address & ((1 << Machine::INTERLEAVE_LOG2) - 1));
    }
    uint64_t set_of(uint64_t line) const {
        return sets_.rest(local(line << LINE_LOG2) >> LINE_LOG2);
    }

    // Whether a request got through: it hits, is merged, or goes to DRAM.
    bool look_up(Slice &own, uint32_t slice, uint32_t id) {
        Request &request = m_.requests[id];
        uint64_t line = line_of(request.segment);
        CacheLine *found = own.cache.find(set_of(line), line);
        bool writes = request.asks == Asks::STORE || request.asks == Asks::WRITE_ENTRY ||
                      request.asks == Asks::PORT_WRITE;
        uint32_t *first = found || writes ? nullptr : own.missing.find(line);
        if (first && m_.requests[*first].at_l2.count >= settings_.l2_merges) return false;
        if (!found && !writes && !first && own.missing.size() >= settings_.l2_mshrs) return false;
        Time start = std::max(now(), own.access_free);
        own.access_free = start + 1;
        if (found) {
            m_.counts.l2_hits++;
            own.cache.touch(found)->dirty |= writes || request.asks == Asks::ATOMIC;
        } else if (writes) {
            m_.counts.l2_writes_through++;
            uint64_t bytes_log2 = settings_.segment_log2;
            if (request.asks == Asks::PORT_WRITE)
                bytes_log2 = std::max(bytes_log2, settings_.port_bytes_log2);
            to_dram(slice, request.segment, NONE, bytes_log2);
        } else if (first) {
            m_.counts.l2_merges++;
            Waiting &head = m_.requests[*first].at_l2;
            head.count++;
            request.at_l2.next = head.next;
            head.next = id;
            return true;
        } else {
            m_.counts.l2_misses++;
            own.missing.add(line, id);
            m_.at(start + settings_.l2_cycles, MISS, slice, id);
            return true;
        }
        if (request.asks == Asks::WRITE_ENTRY)
            m_.release(id);
        else
            m_.at(start + settings_.l2_cycles, SERVED, slice, id);
        return true;
    }

    // The line, for which another one may have to go.
    CacheLine *place(Slice &own, uint32_t slice, uint64_t line) {
        CacheLine *victim = own.cache.victim(set_of(line), line);
        if (own.cache.holds(victim) && victim->dirty)
            to_dram(slice, victim->line << segments_log2_, NONE, LINE_LOG2);
        own.cache.place(victim, line);
        return victim;
    }

    // Request `id` reads; without one, it is a write.
    void to_dram(uint32_t slice, uint64_t segment, uint32_t id, int bytes_log2) {
        uint64_t address = segment << settings_.segment_log2;
        bool is_metadata = address >= Machine::METADATA;
        (id == NONE ? is_metadata ? m_.counts.metadata_writes : m_.counts.data_writes
                    : is_metadata ? m_.counts.metadata_reads : m_.counts.data_reads)++;
        uint64_t share = slice % settings_.slices_per_channel;
        uint64_t row = (local(address) >> Machine::INTERLEAVE_LOG2) *
                           settings_.slices_per_channel + share;
        row = (row << Machine::INTERLEAVE_LOG2) / settings_.row_bytes;
        uint32_t number = slice / settings_.slices_per_channel;
        Channel &own = channels_[number];
        bool was_idle = own.is_idle();
        Time next = own.next();
        own.add({row / settings_.banks, uint32_t(row % settings_.banks), slice, id,
                 1u << std::max(0, bytes_log2 - BURST_LOG2), id == NONE},
                dram_time(now()));
        if (was_idle || own.next() < next) wake(number);
    }

    // Reads the lines of an access's entries, but those that are being read.
    void check(Request request) {
        if (!settings_.detects || !settings_.md || detector_.is_there()) return;
        uint64_t word = request.segment << (settings_.segment_log2 - 2), last = 0;
        uint64_t base = settings_.data_base >> 2, end = base + settings_.data_words;
        for (uint32_t words = request.words; words; words >>= 1, word++) {
            if (!(words & 1) || word < base || word >= end) continue;
            uint64_t entry = word - base;
            entry = settings_.shares_neighbours ? entry / settings_.ratio
                                                : entry % (settings_.data_words / settings_.ratio);
            uint64_t line = (Machine::METADATA + entry * ENTRY_BYTES) >> LINE_LOG2;
            if (line == last) continue;
            last = line;
            m_.counts.checks++;
            if (settings_.merges_in_flight && checking_.find(line)) {
                m_.counts.checks_merged++;
                continue;
            }
            if (settings_.merges_in_flight) checking_.add(line, 0);
            uint32_t id = m_.take({.segment = line << segments_log2_, .words = 0, .warp = 0,
                                   .sm = 0, .asks = Asks::READ_ENTRY});
            m_.at(now() + 1, ACCESS, m_.slice_of(m_.requests[id].segment), id);
        }
    }

    static constexpr uint64_t ENTRY_BYTES = 8;
    static constexpr int BURST_LOG2 = 5;

    Machine &m_;
    const Settings &settings_;
    Detector &detector_;
    int segments_log2_;
    const Divisor sets_, core_mhz_, dram_mhz_;
    std::vector<Slice> slices_;
    std::vector<Channel> channels_;
    std::vector<Time> wakes_;
    InFlight checking_;
};
