// Results on their way to memory, as racetrap.rtl.gpu.write_back and .entry_writer.
#pragma once

#include "../compiled/settings.h"

// `changed(position)` and `address(position)` are of the slot at a position.
class WriteBack {
public:
    bool retires() const { return retires_; }

    template <class Changed> void settle(SliceCycle &port, Changed changed) {
        port.offers_address = address_waits_;
        port.offers_data = entry_waits_;
        port.write_address = address_;
        takes_ = (!address_waits_ || port.takes_address) && (!entry_waits_ || port.takes_data);
        bool is_checked = passed_ != checked_;
        reads_ = is_checked && changed(passed_) && (!result_waits_ || takes_);
        skips_ = is_checked && !changed(passed_);
        oldest_changed_ = changed(retired_);
        retires_ = retired_ != passed_ && (!oldest_changed_ || answers_);
    }

    // `is_checked`: the next slot has been.
    template <class Address> void edge(const SliceCycle &port, bool is_checked, Address address) {
        if (port.takes_address) address_waits_ = false;
        if (port.takes_data) entry_waits_ = false;
        if (result_waits_ && takes_) {
            address_waits_ = entry_waits_ = true;
            address_ = result_;
        }
        if (reads_) {
            result_waits_ = true;
            result_ = address(passed_);
        } else if (takes_) {
            result_waits_ = false;
        }
        answers_ += port.answers_write;
        answers_ -= retires_ && oldest_changed_;
        checked_ += is_checked;
        passed_ += reads_ || skips_;
        retired_ += retires_;
    }

private:
    uint64_t checked_ = 0, passed_ = 0, retired_ = 0, answers_ = 0;
    uint64_t result_ = 0, address_ = 0;
    bool result_waits_ = false, address_waits_ = false, entry_waits_ = false;
    bool takes_ = false, reads_ = false, skips_ = false, oldest_changed_ = false, retires_ = false;
};
