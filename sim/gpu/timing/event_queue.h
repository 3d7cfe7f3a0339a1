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

    // Runs `step` on each event until none is left; steps may add events.
    template <typename Step> void run(Step step) {
        while (count_) {
            std::vector<Happening> &slot = wheel_[now_ % SLOTS];
            for (size_t place = 0; place < slot.size(); place++) {
                Happening happening = slot[place];
                count_--;
                step(happening);
            }
            slot.clear();
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
    uint64_t count_ = 0;
};
