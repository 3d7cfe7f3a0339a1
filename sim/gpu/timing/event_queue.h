// Queue of what happens at a cycle: a wheel of near cycles, a map of those beyond. Within a cycle
// events are in the order in which they were added.
#pragma once

#include <map>
#include <vector>

#include "twins.h"

using Time = uint64_t;

struct Happening {
    uint8_t what;
    uint32_t who, item;
};

class EventQueue {
public:
    EventQueue() : wheel_(SLOTS) {}

    Time now() const { return now_; }

    void add(Time at, Happening happening) {
        count_++;
        if (at < now_ + SLOTS)
            wheel_[at % SLOTS].push_back(happening);
        else
            far_[at].push_back(happening);
    }

    // Runs `step` on each event until none is left, or one is enough; steps may add events.
    template <typename Step, typename Enough> void run(Step step, Enough is_enough) {
        while (count_) {
            std::vector<Happening> &slot = wheel_[now_ % SLOTS];
            while (place_ < slot.size()) {
                Happening happening = slot[place_++];
                count_--;
                step(happening);
                if (is_enough()) return;
            }
            slot.clear();
            place_ = 0;
            if (count_) advance();
        }
    }

private:
    static constexpr Time SLOTS = 1 << 12;

    void advance() {
        now_++;
        auto next = far_.find(now_ + SLOTS - 1);
        if (next == far_.end()) return;
        std::vector<Happening> &slot = wheel_[next->first % SLOTS];
        slot.insert(slot.end(), next->second.begin(), next->second.end());
        far_.erase(next);
    }

    std::vector<std::vector<Happening>> wheel_;
    std::map<Time, std::vector<Happening>> far_;
    Time now_ = 0;
    size_t place_ = 0;  // of the next event of this cycle
    uint64_t count_ = 0;
};
