// Cycles that the kernels of a trace take on a GPU, replayed.
#include <memory>

#include "cores.h"
#include "memory.h"

namespace {

// All kernels of a trace, one after the other; the L2 keeps what it has.
struct Replay {
    std::vector<Program> kernels;

    bool run(const Settings &settings, const DetectorArrays *given, Counts &counts) const {
        Machine machine(settings, counts);
        Detector detector(machine, given);
        Cores cores(machine, detector, given);
        Memory memory(machine, detector);
        Time last = 0;
        for (const Program &kernel : kernels) {
            // Time that a detector is given to come to rest is not the kernel's.
            Time begins = machine.events.now();
            if (given && !given->launch()) return false;
            cores.begin(kernel);
            machine.events.run([&](const Happening &each) {
                uint32_t who = each.who, item = each.item;
                if (each.what != DETECT) last = machine.events.now();
                switch (What(each.what)) {
                case SCHEDULE: return cores.schedule(who, item);
                case ISSUE: return cores.issue(who);
                case WAKE: return cores.wake(who);
                case LSU_DONE: return cores.unit_done(who);
                case HITS: return cores.hits(who);
                case RETURN: return cores.back(who, item);
                case DELIVER: return cores.deliver(who, item);
                case ARRIVE: return memory.arrive(who, item);
                case ACCESS: return memory.access(who, item);
                case CHECKED: return memory.checked(item);
                case SERVED: return memory.served(who, item);
                case MISS: return memory.miss(who, item);
                case CHANNEL: return memory.channel(who);
                case FILL: return memory.fill(who, item);
                case DETECT: return detector.cycle();
                case TAKEN: return cores.taken(who);
                case FENCED: return cores.fenced(who);
                case NOTHING: return;
                }
            });
            if (!cores.has_ended() || machine.in_flight() || detector.has_failed()) return false;
            counts.cycles += std::max({begins, last, detector.last_active()}) - begins;
        }
        return true;
    }
};

}  // namespace

extern "C" {

void *racetrap_timing_new() { return new Replay; }

void racetrap_timing_add(void *replay, const KernelArrays *kernel, uint64_t segment_log2) {
    static_cast<Replay *>(replay)->kernels.emplace_back(*kernel, segment_log2);
}

// Whether all warps have come to their ends and nothing is left in flight.
int racetrap_timing_run(const void *replay, const Settings *settings, const DetectorArrays *given,
                        Counts *counts) {
    return static_cast<const Replay *>(replay)->run(*settings, given, *counts);
}

void racetrap_timing_delete(void *replay) { delete static_cast<Replay *>(replay); }

}
