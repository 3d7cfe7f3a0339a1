// The whole GPU in time: cores and memory, with a detector, and the kernel that runs on them.
#pragma once

#include "cores.h"
#include "memory.h"

class Simulation {
    Machine machine_;
    Detector detector_;

public:
    Cores cores;

    Simulation(const Settings &settings, const DetectorArrays *given, Counts &counts)
        : machine_(settings, counts), detector_(machine_, given),
          cores(machine_, detector_, given), memory_(machine_, detector_) {}

    // Time that a detector is given to come to rest is not the kernel's.
    void begin(const Program &kernel) {
        begins_ = machine_.events.now();
        cores.begin(kernel);
    }

    // Until nothing is left to be done, or a warp wants an instruction.
    void go() {
        if (cores.wants() != NONE) return;
        machine_.events.run([&](const Happening &each) { step(each); },
                            [&] { return cores.wants() != NONE; });
    }

    // Whether all warps have come to their ends and nothing is left in flight.
    bool end() {
        if (!cores.has_ended() || machine_.in_flight() || detector_.has_failed()) return false;
        machine_.counts.cycles += std::max({begins_, last_, detector_.last_active()}) - begins_;
        return true;
    }

private:
    void step(const Happening &each) {
        uint32_t who = each.who, item = each.item;
        if (each.what != DETECT) last_ = machine_.events.now();
        switch (What(each.what)) {
        case SCHEDULE: return cores.schedule(who, item);
        case ISSUE: return cores.issue(who);
        case WAKE: return cores.wake(who);
        case LSU_DONE: return cores.unit_done(who);
        case HITS: return cores.hits(who);
        case RETURN: return cores.back(who, item);
        case DELIVER: return cores.deliver(who, item);
        case ARRIVE: return memory_.arrive(who, item);
        case ACCESS: return memory_.access(who, item);
        case CHECKED: return memory_.checked(item);
        case SERVED: return memory_.served(who, item);
        case MISS: return memory_.miss(who, item);
        case CHANNEL: return memory_.channel(who);
        case FILL: return memory_.fill(who, item);
        case DETECT: return detector_.cycle();
        case TAKEN: return cores.taken(who);
        case FENCED: return cores.fenced(who);
        case NOTHING: return;
        }
    }

    Memory memory_;
    Time begins_ = 0, last_ = 0;
};
