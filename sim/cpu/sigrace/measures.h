// What figures of the paper need of a run beside its counters: intersections by addresses, lost
// windows, sizes of messages.
#ifndef MEASURES_H
#define MEASURES_H

#include "core_unit.h"

class Measures {
public:
    Intersections intersections = {};
    // Sum over all searches that lost a window: its share of the checkpoint interval.
    double lost_windows = 0;
    std::vector<uint32_t> message_bytes;

    explicit Measures(uint64_t threads) : gone_(threads) {}

    // A conflict by signatures, of a message with an entry.
    void conflict(uint32_t found, const Summary &message, const Summary &entry) {
        uint32_t real = 0;
        if (meet(message.granules[0], entry.granules[1])) real |= READ_WRITE;
        if (meet(message.granules[1], entry.granules[0])) real |= WRITE_READ;
        if (meet(message.granules[1], entry.granules[1])) real |= WRITE_WRITE;
        intersections.true_pairs += real != 0;
        intersections.true_intersections += std::popcount(real);
        intersections.false_pairs += !real;
        intersections.false_intersections += std::popcount(found & ~real);
    }

    // A block has left its full queue; a search has gone through a thread's full queue in vain.
    void leave(const Summary &entry) { gone_[entry.thread] = entry.committed; }
    void lose(uint32_t other) { lost_ += gone_[other]; }

    // The interval ends; its length is the number of instructions of the thread that has run most.
    void end_interval(uint64_t instructions) {
        if (lost_) lost_windows += (double)lost_ / instructions;
        lost_ = 0;
        std::fill(gone_.begin(), gone_.end(), 0);
    }

private:
    // Instructions in the interval up to the latest block of each thread that has left its queue.
    std::vector<uint64_t> gone_;
    uint64_t lost_ = 0;

    static bool meet(const std::vector<uint32_t> &one, const std::vector<uint32_t> &other) {
        for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
            if (*a == *b) return true;
            *a < *b ? ++a : ++b;
        }
        return false;
    }
};

#endif
