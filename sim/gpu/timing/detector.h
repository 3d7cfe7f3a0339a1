// A detector with cycles of its own beside the GPU: its SM ports, and metadata ports at the L2.
//
// It has the GPU's clock.  What SMs tell it waits in order at its ports; its reads and writes of
// metadata are requests of the L2 like any other.
#pragma once

#include <deque>

#include "machine.h"

class Detector {
public:
    Detector(Machine &machine, const DetectorArrays *given)
        : m_(machine), given_(given), sms_(given ? given->sms : 0), fences_(sms_.size()),
          sm_cycles_(sms_.size()), slice_cycles_(given ? given->slices : 0),
          ports_(slice_cycles_.size()) {}

    bool is_there() const { return given_; }
    bool has_failed() const { return has_failed_; }
    // The last cycle in which it did something.
    Time last_active() const { return last_active_; }

    // Transactions of an SM; once all are taken, event `then` happens to `who`, and if they are a
    // warp's fence, only when all banks have it.
    struct Told {
        const uint32_t *words;
        uint32_t who;
        What then;
        bool is_last, is_fence;
        uint32_t warp_slot;
        Time since = 0;
    };
    void tell(uint32_t sm, Told told) {
        told.since = now();
        sms_[sm].push_back(told);
        wake();
    }

    void cycle() {
        is_awake_ = false;
        for (size_t sm = 0; sm < sms_.size(); sm++)
            sm_cycles_[sm].transaction = is_due(sms_[sm]) ? sms_[sm].front().words : nullptr;
        for (size_t port = 0; port < ports_.size(); port++) drive(ports_[port], slice_cycles_[port]);
        has_failed_ |= !given_->cycle(given_->state, sm_cycles_.data(), slice_cycles_.data());
        if (has_failed_) return;
        bool is_active = false;
        for (size_t sm = 0; sm < sms_.size(); sm++) is_active |= look_at_sm(sm);
        for (size_t port = 0; port < ports_.size(); port++) is_active |= look_at_port(port);
        if (is_active) last_active_ = now();
        if (now() < last_active_ + QUIET) wake();
    }

    // The L2 has read or written what a port has asked.
    void served(const Request &request) {
        Port &port = ports_[request.sm];
        if (request.asks == Asks::PORT_READ) {
            port.reads.push_back({now(), request.warp});
        } else {
            port.writes[request.warp - port.first_write].since = now();
        }
        wake();
    }

private:
    // More cycles than anything is on its way in the detector without a sign of it.
    static constexpr Time QUIET = 300;

    struct Served {
        Time since = NEVER;
        uint32_t id = 0;
    };

    struct Port {
        std::deque<Served> reads;
        std::deque<uint64_t> addresses;
        uint64_t data = 0;
        std::deque<Served> writes;  // all that are not answered, which are in order
        uint32_t first_write = 0;
    };

    static constexpr Time NEVER = ~Time(0);

    Time now() const { return m_.events.now(); }

    // What happens in a cycle reaches the detector in the next.
    template <class Each> bool is_due(const std::deque<Each> &waiting) const {
        return !waiting.empty() && waiting.front().since < now();
    }

    void wake() {
        if (is_awake_ || !given_) return;
        is_awake_ = true;
        m_.at(now() + 1, DETECT, 0);
    }

    void drive(Port &port, SliceCycle &cycle) {
        cycle.takes_read = cycle.takes_address = cycle.takes_data = 1;
        cycle.answers_read = is_due(port.reads);
        if (cycle.answers_read) {
            cycle.answered_id = port.reads.front().id;
            port.reads.pop_front();
        }
        cycle.answers_write = is_due(port.writes);
        if (cycle.answers_write) {
            port.writes.pop_front();
            port.first_write++;
        }
    }

    bool look_at_sm(size_t sm) {
        SmCycle &cycle = sm_cycles_[sm];
        // Fences taken in an earlier cycle, which all banks have now.
        auto &fences = fences_[sm];
        for (size_t place = 0; place < fences.size();)
            if (cycle.fencing >> fences[place].warp_slot & 1) {
                place++;
            } else {
                m_.at(now(), fences[place].then, fences[place].who);
                fences.erase(fences.begin() + place);
            }
        if (!cycle.transaction) return cycle.fencing;
        if (!cycle.is_taken) {
            m_.counts.detector_waits++;
            return true;
        }
        Told told = sms_[sm].front();
        sms_[sm].pop_front();
        m_.counts.transactions++;
        if (told.is_last && told.is_fence)
            fences.push_back(told);
        else if (told.is_last)
            m_.at(now(), told.then, told.who);
        return true;
    }

    bool look_at_port(uint32_t number) {
        const SliceCycle &cycle = slice_cycles_[number];
        Port &port = ports_[number];
        if (cycle.offers_read) {
            m_.counts.checks++;
            ask(number, cycle.read_address, Asks::PORT_READ, cycle.read_id);
        }
        if (cycle.offers_address) port.addresses.push_back(cycle.write_address);
        port.data += cycle.offers_data;
        if (port.data && !port.addresses.empty()) {
            uint32_t write = port.first_write + port.writes.size();
            port.writes.push_back({});
            ask(number, port.addresses.front(), Asks::PORT_WRITE, write);
            port.addresses.pop_front();
            port.data--;
        }
        return cycle.offers_read || cycle.offers_address || cycle.offers_data ||
               cycle.answers_read || cycle.answers_write || cycle.steps || cycle.fences;
    }

    void ask(uint32_t port, uint64_t address, Asks asks, uint32_t number) {
        uint64_t segment = (Machine::METADATA + address) >> m_.settings.segment_log2;
        uint32_t id = m_.take({.segment = segment, .words = 0, .warp = number, .sm = port,
                               .asks = asks});
        m_.at(now() + 1, ACCESS, m_.slice_of(segment), id);
    }

    Machine &m_;
    const DetectorArrays *given_;
    std::vector<std::deque<Told>> sms_;
    std::vector<std::vector<Told>> fences_;
    std::vector<SmCycle> sm_cycles_;
    std::vector<SliceCycle> slice_cycles_;
    std::vector<Port> ports_;
    Time last_active_ = 0;
    bool is_awake_ = false, has_failed_ = false;
};
