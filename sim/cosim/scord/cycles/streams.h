// Blocks of streams, as racetrap.rtl.common.stream and .arbiter: their state, and a clock edge.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

// StreamRegister.
template <class T> class Register {
public:
    std::optional<T> held;

    bool is_ready(bool goes) const { return !held || goes; }
    // `goes`: what is held may leave; `in`: what is offered, if anything.
    void edge(bool goes, std::optional<T> in) {
        if (is_ready(goes)) held = std::move(in);
    }
};

// StreamFifo.
template <class T> class Fifo {
public:
    std::optional<T> out;

    explicit Fifo(size_t depth) : depth_(depth) {}

    bool is_ready() const { return depth_ == 1 ? !out : inner_.size() < depth_ - 1; }
    // `in` may only be there if the FIFO is ready.
    void edge(bool is_taken, std::optional<T> in) {
        bool is_free = !out || (is_taken && depth_ != 2);
        if (is_taken) out.reset();
        if (depth_ == 1) {
            if (in) out = std::move(in);
            return;
        }
        if (is_free && !inner_.empty()) {
            out = std::move(inner_.front());
            inner_.pop_front();
        }
        if (in) inner_.push_back(std::move(*in));
    }

private:
    size_t depth_;
    std::deque<T> inner_;  // all but what is offered
};

// Turns of an arbiter's inputs.
class Turns {
public:
    // The input that is served, of those that ask, in ascending order; -1 if none does.
    int served(const std::vector<int> &asking) const {
        for (int each : asking)
            if (each > last_) return each;
        return asking.empty() ? -1 : asking.front();
    }
    void serve(int input) { last_ = input; }

private:
    int last_ = -1;
};
