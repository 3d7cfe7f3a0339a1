// What cores and memory share: settings, counts, events, and the requests on their way.
#pragma once

#include <vector>

#include "event_queue.h"

enum What : uint8_t {
    // Of the cores: an SM or a warp, and what it is about.
    SCHEDULE, ISSUE, WAKE, LSU_DONE, HITS, RETURN, DELIVER,
    // Of the memory: a slice or a channel, and a request.
    ARRIVE, ACCESS, CHECKED, SERVED, MISS, CHANNEL, FILL,
    // Of a detector with cycles of its own: a cycle; its answer to a load/store unit, and to a warp
    // that fences.
    DETECT, TAKEN, FENCED, NOTHING,
};

enum class Asks : uint8_t { LOAD, MERGED, VOLATILE_LOAD, STORE, ATOMIC, CHECK, READ_ENTRY, WRITE_ENTRY,
                           PORT_READ, PORT_WRITE };

constexpr uint32_t NONE = ~0u;

// Place in the list of those that wait for one segment.
struct Waiting {
    uint32_t next = NONE;
    uint32_t count = 0;  // of the first: how many wait with it
};

struct Request {
    uint64_t segment;
    uint32_t words, warp, sm;
    Waiting at_l1{}, at_l2{};
    Asks asks;
};

// Division by a number that is known long before, of numbers below 2^64 divided by it.
struct Divisor {
    explicit Divisor(uint64_t by) : number(by), inverse(~uint64_t(0) / by + 1) {}

    uint64_t quotient(uint64_t of) const {
        return number == 1 ? of : static_cast<unsigned __int128>(of) * inverse >> 64;
    }
    uint64_t rest(uint64_t of) const { return of - quotient(of) * number; }

    const uint64_t number, inverse;
};

struct Machine {
    Machine(const Settings &with, Counts &into)
        : settings(with), counts(into), slices(with.channels * with.slices_per_channel) {
        for (int asks = 0; asks <= int(Asks::PORT_WRITE); asks++) {
            out_[asks] = flits_out_of(Asks(asks));
            back_[asks] = flits(Asks(asks) != Asks::STORE, false);
        }
    }

    uint32_t take(Request request) {
        if (free_.empty()) {
            requests.push_back(request);
            return requests.size() - 1;
        }
        uint32_t id = free_.back();
        free_.pop_back();
        requests[id] = request;
        return id;
    }

    void release(uint32_t id) { free_.push_back(id); }
    uint64_t in_flight() const { return requests.size() - free_.size(); }

    void at(Time time, What what, uint32_t who, uint32_t item = 0) {
        events.add(time, {what, who, item});
    }

    uint64_t flits_out(Asks asks) const { return out_[int(asks)]; }
    uint64_t flits_back(Asks asks) const { return back_[int(asks)]; }

    uint32_t slice_of(uint64_t segment) const {
        return slices.rest(segment << settings.segment_log2 >> INTERLEAVE_LOG2);
    }

    static constexpr int INTERLEAVE_LOG2 = 8;
    static constexpr uint64_t METADATA = uint64_t(1) << 46;  // its place among addresses

    const Settings &settings;
    Counts &counts;
    EventQueue events;
    std::vector<Request> requests;
    const Divisor slices;

private:
    // Flits of a packet with a segment's data or without, and with the warp's identity or without.
    uint64_t flits(bool has_data, bool is_identified) const {
        uint64_t bytes = settings.header_bytes;
        if (has_data) bytes += uint64_t(1) << settings.segment_log2;
        if (is_identified) bytes += settings.identity_bytes;
        return (bytes + settings.flit_bytes - 1) / settings.flit_bytes;
    }

    uint64_t flits_out_of(Asks asks) const {
        if (asks == Asks::CHECK) return flits(false, true);
        bool has_data = asks == Asks::STORE || asks == Asks::ATOMIC;
        return flits(has_data, settings.detects && settings.noc);
    }

    uint64_t out_[int(Asks::PORT_WRITE) + 1], back_[int(Asks::PORT_WRITE) + 1];
    std::vector<uint32_t> free_;
};
