// Cycles that kernels take on a GPU: replayed from a trace, or while they are executed.
#include <memory>

#include "simulation.h"

namespace {

// All kernels of a trace, one after the other; the L2 keeps what it has.
struct Replay {
    std::vector<Program> kernels;

    bool run(const Settings &settings, const DetectorArrays *given, Counts &counts) const {
        Simulation simulation(settings, given, counts);
        for (const Program &kernel : kernels) {
            if (given && !given->launch()) return false;
            simulation.begin(kernel);
            simulation.go();
            if (!simulation.end()) return false;
        }
        return true;
    }
};

// Kernels that run while their instructions come.
struct Execution {
    explicit Execution(const Settings &with) : settings(with), simulation(settings, nullptr, counts) {}

    const Settings settings;
    Counts counts{};
    Simulation simulation;
    std::unique_ptr<Program> program;
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

void *racetrap_execution_new(const Settings *settings) { return new Execution(*settings); }

void racetrap_execution_begin(void *execution) {
    Execution &own = *static_cast<Execution *>(execution);
    own.program = std::make_unique<Program>(own.settings.segment_log2);
    own.simulation.begin(*own.program);
}

void racetrap_execution_place(void *execution, uint32_t sm, uint32_t slot, uint32_t warps) {
    Execution &own = *static_cast<Execution *>(execution);
    own.program->place(sm, slot, warps);
    own.simulation.cores.add_blocks();
}

// Events that a warp has made in its turn, the first behind `gap` instructions without one; whether
// it has an instruction now.
int racetrap_execution_follow(void *execution, uint32_t warp, const Event *events, uint64_t count,
                              const LaneRecord *lanes, uint32_t gap) {
    Program &program = *static_cast<Execution *>(execution)->program;
    size_t before = program.warps[warp].size();
    for (uint64_t row = 0; row < count; row++, gap = 0) {
        const Event &event = events[row];
        if (event.kind == EventKind::BARRIER)
            program.wait(warp);
        else if (event.kind < EventKind::BARRIER ||
                 (event.kind >= EventKind::IF && event.kind <= EventKind::WARP_BARRIER))
            program.follow(warp, event, lanes + event.first_lane - events->first_lane, gap);
    }
    return program.warps[warp].size() > before;
}

void racetrap_execution_wait(void *execution, uint32_t warp) {
    static_cast<Execution *>(execution)->program->wait(warp);
}

void racetrap_execution_pause(void *execution, uint32_t warp, uint32_t gap) {
    static_cast<Execution *>(execution)->program->pause(warp, gap);
}

// Lets time pass until a warp wants an instruction; which, or NONE if nothing is left to be done.
// `is_given`: the warp that this has named before has one now, or has come to its end.
uint32_t racetrap_execution_next(void *execution, int is_given) {
    Simulation &own = static_cast<Execution *>(execution)->simulation;
    if (is_given) own.cores.give();
    own.go();
    return own.cores.wants();
}

// Whether all warps of the kernel have come to their ends and nothing is left in flight.
int racetrap_execution_end(void *execution, Counts *counts) {
    Execution &own = *static_cast<Execution *>(execution);
    bool has_ended = own.simulation.end();
    *counts = own.counts;
    return has_ended;
}

void racetrap_execution_delete(void *execution) { delete static_cast<Execution *>(execution); }

}
