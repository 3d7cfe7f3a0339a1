// Two detectors with the same GPU around them, cycle for cycle, until one does something else.
//
// The GPU is random: when SMs offer their next transaction, and when the memory takes and answers.
// Only what the two do alike decides what comes next.
#include <deque>
#include <vector>

#include "twins.h"

// xorshift64*.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u | 1) {}
    uint64_t below(uint64_t limit) {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return (state_ * 0x2545F4914F6CDD1Du >> 32) % limit;
    }
    bool percent(uint64_t chance) { return chance && below(100) < chance; }

private:
    uint64_t state_;
};

// The memory of a port: what it takes and answers in a cycle, then what it has been asked.
class PortMemory {
public:
    PortMemory(const Environment &environment, Random &random)
        : environment_(environment), random_(random) {}

    void drive(SliceCycle &port, uint64_t now) {
        uint64_t withheld = environment_.back_pressure;
        port.takes_read = !random_.percent(withheld);
        port.takes_address = !random_.percent(withheld);
        port.takes_data = !random_.percent(withheld);
        port.answers_read = port.answers_write = 0;
        if (!reads_.empty() && !random_.percent(withheld)) {
            size_t chosen = environment_.reorder ? random_.below(reads_.size()) : 0;
            port.answers_read = reads_[chosen].due <= now;
            port.answered_id = reads_[chosen].id;
            if (port.answers_read) reads_.erase(reads_.begin() + chosen);
        }
        if (!writes_.empty() && writes_.front() <= now && !random_.percent(withheld)) {
            port.answers_write = 1;
            writes_.pop_front();
        }
    }

    void sample(const SliceCycle &port, uint64_t now) {
        uint64_t due = now + environment_.latency + random_.below(environment_.jitter + 1);
        if (port.offers_read && port.takes_read) reads_.push_back({port.read_id, due});
        addresses_ += port.offers_address && port.takes_address;
        data_ += port.offers_data && port.takes_data;
        for (; addresses_ && data_; addresses_--, data_--) writes_.push_back(due);
    }

    bool is_idle() const { return reads_.empty() && writes_.empty() && !addresses_ && !data_; }

private:
    struct Read {
        uint32_t id;
        uint64_t due;
    };
    const Environment &environment_;
    Random &random_;
    std::deque<Read> reads_;
    std::deque<uint64_t> writes_;
    uint64_t addresses_ = 0, data_ = 0;
};

class Lockstep {
public:
    Lockstep(const Environment &environment, const Queue *queues)
        : environment_(environment), random_(environment.seed), queues_(queues),
          next_(environment.sms), sms_(environment.sms), other_sms_(environment.sms),
          slices_(environment.slices), other_slices_(environment.slices) {
        for (uint64_t n = 0; n < environment.slices; n++)
            memories_.emplace_back(environment_, random_);
    }

    // Whether both have done the same until nothing was left to do.
    bool run(CycleFunction one, void *state, CycleFunction other, void *other_state, Result &result) {
        for (uint64_t quiet = 0; quiet < environment_.quiet; quiet = moves() ? 0 : quiet + 1) {
            if (result.cycles == environment_.most) return false;
            for (uint64_t sm = 0; sm < sms_.size(); sm++) offer(sm);
            for (uint64_t n = 0; n < slices_.size(); n++)
                memories_[n].drive(slices_[n], result.cycles);
            other_sms_ = sms_;
            other_slices_ = slices_;
            if (!one(state, sms_.data(), slices_.data())) return false;
            if (!other(other_state, other_sms_.data(), other_slices_.data())) return false;
            if (!are_equal(result)) return false;
            for (uint64_t n = 0; n < slices_.size(); n++)
                memories_[n].sample(slices_[n], result.cycles);
            count(result);
            result.cycles++;
        }
        for (uint64_t sm = 0; sm < sms_.size(); sm++)
            if (next_[sm] < queues_[sm].count) return false;
        return true;
    }

private:
    void offer(uint64_t sm) {
        SmCycle &port = sms_[sm];
        if (port.transaction && port.is_taken) {
            port.transaction = nullptr;
            next_[sm]++;
        }
        if (port.transaction || next_[sm] == queues_[sm].count) return;
        if (!random_.percent(environment_.idle_percent))
            port.transaction = queues_[sm].words + next_[sm] * environment_.transaction_words;
    }

    bool moves() const {
        for (const SmCycle &port : sms_)
            if ((port.transaction && port.is_taken) || port.fencing) return true;
        for (const PortMemory &memory : memories_)
            if (!memory.is_idle()) return true;
        for (const SliceCycle &port : slices_)
            if (port.steps || port.fences) return true;
        return false;
    }

    void count(Result &result) const {
        for (const SliceCycle &port : slices_) {
            result.steps += __builtin_popcount(port.steps) + __builtin_popcount(port.fences);
            result.reads += port.offers_read && port.takes_read;
            result.writes += port.offers_address && port.takes_address;
        }
        for (const SmCycle &port : sms_) result.waits += port.transaction && !port.is_taken;
    }

    bool are_equal(Result &result) const {
        for (uint64_t n = 0; n < slices_.size(); n++) {
            const SliceCycle &a = slices_[n], &b = other_slices_[n];
            auto same = [&](Signal signal, uint64_t x, uint64_t y) {
                return is_same(result, signal, n, x, y);
            };
            if (!same(STEPS, a.steps, b.steps) || !same(FENCES, a.fences, b.fences) ||
                !same(OFFERS_READ, a.offers_read, b.offers_read) ||
                !same(OFFERS_ADDRESS, a.offers_address, b.offers_address) ||
                !same(OFFERS_DATA, a.offers_data, b.offers_data))
                return false;
            if (a.offers_read && (!same(READ_ID, a.read_id, b.read_id) ||
                                  !same(READ_ADDRESS, a.read_address, b.read_address)))
                return false;
            if (a.offers_address && !same(WRITE_ADDRESS, a.write_address, b.write_address))
                return false;
        }
        for (uint64_t sm = 0; sm < sms_.size(); sm++) {
            const SmCycle &a = sms_[sm], &b = other_sms_[sm];
            if (!is_same(result, FENCING, sm, a.fencing, b.fencing)) return false;
            if (a.transaction && !is_same(result, IS_TAKEN, sm, a.is_taken, b.is_taken))
                return false;
        }
        return true;
    }

    static bool is_same(Result &result, Signal signal, uint64_t place, uint64_t one,
                        uint64_t other) {
        if (one == other) return true;
        result.differs = 1;
        result.signal = signal;
        result.place = place;
        result.one = one;
        result.other = other;
        return false;
    }

    const Environment &environment_;
    Random random_;
    const Queue *queues_;
    std::vector<uint64_t> next_;
    std::vector<SmCycle> sms_, other_sms_;
    std::vector<SliceCycle> slices_, other_slices_;
    std::vector<PortMemory> memories_;
};

extern "C" int racetrap_lockstep_run(const Environment *environment, const Queue *queues, CycleFunction one,
                                     void *state, CycleFunction other, void *other_state, Result *result) {
    return Lockstep(*environment, queues).run(one, state, other, other_state, *result);
}
