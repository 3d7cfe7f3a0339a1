// DRAM channel: first ready, first come first served, in its own clock; one command a clock.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "event_queue.h"

struct DramRequest {
    uint64_t row;
    uint32_t bank, slice, id;
    uint32_t bursts;  // of 32 bytes
    bool is_write;
};

class Channel {
public:
    explicit Channel(const Settings &settings)
        : settings_(settings), banks_(settings.banks), group_ok_(settings.bank_groups) {}

    bool is_idle() const { return queue_.empty(); }
    // The next clock at which there may be something to do.
    Time next() const { return next_; }

    void add(DramRequest request, Time clock) {
        next_ = std::max(clock_ + 1, is_idle() ? clock : std::min(clock, next_));
        if (queue_.size() < settings_.dram_queue)
            queue_.push_back(request);
        else
            waiting_.push_back(request);
    }

    // The next clock: calls `done` with a request whose data are served, and when they are.
    template <typename Done> void step(Counts &counts, Done done) {
        clock_ = next_;
        next_ = ~Time(0);
        size_t place = ready_column();
        if (place < queue_.size()) {
            DramRequest request = queue_[place];
            queue_.erase(queue_.begin() + place);
            if (!waiting_.empty()) {
                queue_.push_back(waiting_.front());
                waiting_.pop_front();
            }
            done(request, column(request));
            next_ = clock_ + 1;
        } else if (!activate(counts)) {
            precharge();
        }
    }

private:
    struct Bank {
        uint64_t row = 0;
        bool is_open = false;
        Time column_ok = 0, activate_ok = 0, precharge_ok = 0;
    };

    bool is_at(Time when) {
        if (when <= clock_) return true;
        next_ = std::min(next_, when);
        return false;
    }

    // The oldest request whose row is open and whose column can be accessed; notes the banks that
    // some request has the open row of.
    size_t ready_column() {
        wanted_ = 0;
        for (size_t place = 0; place < queue_.size(); place++) {
            const DramRequest &request = queue_[place];
            const Bank &bank = banks_[request.bank];
            if (!bank.is_open || bank.row != request.row) continue;
            wanted_ |= uint64_t(1) << request.bank;
            Time group = group_ok_[request.bank % group_ok_.size()];
            if (is_at(std::max({bank.column_ok, column_ok_, group}))) return place;
        }
        return queue_.size();
    }

    Time column(const DramRequest &request) {
        Bank &bank = banks_[request.bank];
        column_ok_ = clock_ + settings_.t_ccd * request.bursts;
        group_ok_[request.bank % group_ok_.size()] = clock_ + settings_.t_ccd_group * request.bursts;
        Time end = clock_ + settings_.t_ccd * request.bursts;
        if (request.is_write) {
            end += settings_.t_wl;
            bank.precharge_ok = std::max(bank.precharge_ok, end + settings_.t_wr);
        } else {
            bank.precharge_ok = std::max(bank.precharge_ok, end);
            end += settings_.t_cl;
        }
        return end;
    }

    bool activate(Counts &counts) {
        for (const DramRequest &request : queue_) {
            Bank &bank = banks_[request.bank];
            if (bank.is_open || !is_at(std::max(bank.activate_ok, activate_ok_))) continue;
            bank.is_open = true;
            bank.row = request.row;
            bank.column_ok = clock_ + settings_.t_rcd;
            bank.precharge_ok = clock_ + settings_.t_ras;
            bank.activate_ok = clock_ + settings_.t_rc;
            activate_ok_ = clock_ + settings_.t_rrd;
            counts.dram_activates++;
            next_ = clock_ + 1;
            return true;
        }
        return false;
    }

    void precharge() {
        for (const DramRequest &request : queue_) {
            Bank &bank = banks_[request.bank];
            bool is_wanted = wanted_ >> request.bank & 1;
            if (!bank.is_open || is_wanted || !is_at(bank.precharge_ok)) continue;
            bank.is_open = false;
            bank.activate_ok = std::max(bank.activate_ok, clock_ + settings_.t_rp);
            next_ = clock_ + 1;
            return;
        }
    }

    const Settings &settings_;
    std::vector<DramRequest> queue_;
    std::deque<DramRequest> waiting_;
    std::vector<Bank> banks_;
    std::vector<Time> group_ok_;
    Time column_ok_ = 0, activate_ok_ = 0, clock_ = 0, next_ = 0;
    uint64_t wanted_ = 0;
};
