// Cycles that the kernels of a trace take on a GPU, replayed.
#include <memory>

#include "cores.h"
#include "memory.h"

namespace {

// All kernels of a trace, one after the other; the L2 keeps what it has.
struct Replay {
    std::vector<Program> kernels;

    bool run(const Settings &settings, Counts &counts) const {
        Machine machine(settings, counts);
        Cores cores(machine);
        Memory memory(machine);
        for (const Program &kernel : kernels) {
            cores.begin(kernel);
            machine.events.run([&](const Happening &each) {
                uint32_t who = each.who, item = each.item;
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
                }
            });
            if (!cores.has_ended() || machine.in_flight()) return false;
        }
        counts.cycles = machine.events.now();
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
int racetrap_timing_run(const void *replay, const Settings *settings, Counts *counts) {
    return static_cast<const Replay *>(replay)->run(*settings, *counts);
}

void racetrap_timing_delete(void *replay) { delete static_cast<Replay *>(replay); }

}
