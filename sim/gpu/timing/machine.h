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

struct Machine {
    Machine(const Settings &with, Counts &into) : settings(with), counts(into) {}

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

    // Flits of a packet with a segment's data or without, and with the warp's identity or without.
    uint64_t flits(bool has_data, bool is_identified) const {
        uint64_t bytes = settings.header_bytes;
        if (has_data) bytes += uint64_t(1) << settings.segment_log2;
        if (is_identified) bytes += settings.identity_bytes;
        return (bytes + settings.flit_bytes - 1) / settings.flit_bytes;
    }

    uint64_t flits_out(Asks asks) const {
        if (asks == Asks::CHECK) return flits(false, true);
        bool has_data = asks == Asks::STORE || asks == Asks::ATOMIC;
        return flits(has_data, settings.detects && settings.noc);
    }

    uint64_t flits_back(Asks asks) const { return flits(asks != Asks::STORE, false); }

    uint64_t slices() const { return settings.channels * settings.slices_per_channel; }
    uint32_t slice_of(uint64_t segment) const {
        return (segment << settings.segment_log2 >> INTERLEAVE_LOG2) % slices();
    }

    static constexpr int INTERLEAVE_LOG2 = 8;
    static constexpr uint64_t METADATA = uint64_t(1) << 46;  // its place among addresses

    const Settings &settings;
    Counts &counts;
    EventQueue events;
    std::vector<Request> requests;

private:
    std::vector<uint32_t> free_;
};
