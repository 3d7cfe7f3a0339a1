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
            link(wheel_[at % SLOTS], happening);
        else
            far_[at].push_back(happening);
    }

    // Runs `step` on each event until none is left, or one is enough; steps may add events.
    template <typename Step, typename Enough> void run(Step step, Enough is_enough) {
        while (count_) {
            List &slot = wheel_[now_ % SLOTS];
            while (slot.first != NOWHERE) {
                uint32_t place = slot.first;
                Happening happening = nodes_[place].happening;
                slot.first = nodes_[place].next;
                nodes_[place].next = free_;
                free_ = place;
                count_--;
                step(happening);
                if (is_enough()) return;
            }
            if (count_) advance();
        }
    }

private:
    static constexpr Time SLOTS = 1 << 12;
    static constexpr uint32_t NOWHERE = ~0u;

    // One array for all lists, so that what comes next is where what has just been was.
    struct Node {
        Happening happening;
        uint32_t next;
    };

    struct List {
        uint32_t first = NOWHERE, last = NOWHERE;
    };

    void link(List &slot, Happening happening) {
        uint32_t place = free_;
        if (place == NOWHERE) {
            place = nodes_.size();
            nodes_.emplace_back();
        } else {
            free_ = nodes_[place].next;
        }
        nodes_[place] = {happening, NOWHERE};
        (slot.first == NOWHERE ? slot.first : nodes_[slot.last].next) = place;
        slot.last = place;
    }

    void advance() {
        now_++;
        auto next = far_.find(now_ + SLOTS - 1);
        if (next == far_.end()) return;
        for (const Happening &each : next->second) link(wheel_[next->first % SLOTS], each);
        far_.erase(next);
    }

    std::vector<List> wheel_;
    std::vector<Node> nodes_;
    uint32_t free_ = NOWHERE;  // the first node without an event
    std::map<Time, std::vector<Happening>> far_;
    Time now_ = 0;
    uint64_t count_ = 0;
};
