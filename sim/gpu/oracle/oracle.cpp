// Race oracle by PTX's memory model, compiled: it takes the events of a run as they come.  Its results
// are those of its specification in Python (tests/support/ptx_oracle).
#include "analysis.h"

namespace {

// Takes the events of a run, kernel by kernel.
class Oracle {
public:
    explicit Oracle(const OracleSettings &settings)
        : judging_{settings.independent != 0, settings.volatile_may_conflict != 0, {}},
          most_warps_(settings.most_warps), number_(settings.first_event) {}

    ~Oracle() {
        Pool::Use use(pool_);
        kernel_.reset();
    }

    // Takes events whose lanes are the records from a number on.  Returns the warps of a kernel
    // that has too many, or 0.
    uint64_t feed(const Event *events, uint64_t count, const LaneRecord *records,
                  uint64_t first_lane) {
        Pool::Use use(pool_);
        note_access_pcs(events, count);
        for (const Event *event = events; event < events + count; event++, number_++) {
            if (event->kind == KERNEL_BEGIN) kernel_.emplace(judging_, number_);
            if (event->kind == KERNEL_END) end();
            if (!kernel_) continue;
            if (event->kind <= ATOMIC) expect(records + (event->first_lane - first_lane));
            kernel_->step(*event, records + (event->first_lane - first_lane));
            if (kernel_->warp_count() > most_warps_) return kernel_->warp_count();
        }
        return 0;
    }

    // Ends a kernel.
    void end() {
        if (!kernel_) return;
        Pool::Use use(pool_);
        KernelFound ends{};
        for (const Found &each : kernel_->found()) found.push_back(each);
        for (const PcPair &each : kernel_->synchronised) synchronised.push_back(each);
        for (const Divergence &each : kernel_->divergences) divergences.push_back(each);
        ends.found = found.size(), ends.synchronised = synchronised.size();
        ends.divergences = divergences.size(), ends.unknown = kernel_->unknown();
        kernels.push_back(ends);
        kernel_.reset();
    }

    // Of all kernels that have ended, one after the other, and where those of each end.
    std::vector<Found> found;
    std::vector<PcPair> synchronised;
    std::vector<Divergence> divergences;
    std::vector<KernelFound> kernels;

private:
    // Warps mostly execute the instruction of the one before.
    void note_access_pcs(const Event *events, uint64_t count) {
        std::optional<uint32_t> last;
        for (const Event *event = events; event < events + count; event++)
            if (event->kind <= ATOMIC && event->pc != last)
                judging_.access_pcs.insert(*(last = event->pc));
    }

    // Has the lanes of some later accesses fetched: most of an analysis of weak accesses waits for
    // them.  There need not be so many.
    static void expect(const LaneRecord *records) {
        constexpr size_t BYTES = LANES * sizeof(LaneRecord), LINE = 64;
        uintptr_t ahead = (uintptr_t)records + 3 * BYTES;
        for (size_t i = 0; i < BYTES; i += LINE) __builtin_prefetch((void *)(ahead + i));
    }

    Pool pool_;  // ends last
    Judging judging_;
    uint64_t most_warps_, number_;
    std::optional<Analysis> kernel_;
};

template <class T> uint64_t hand_over(const std::vector<T> &items, const void **address) {
    *address = items.data();
    return items.size();
}

}  // namespace

extern "C" {

void *racetrap_oracle_new(const OracleSettings *settings) { return new Oracle(*settings); }

uint64_t racetrap_oracle_feed(void *oracle, const Event *events, uint64_t count,
                              const LaneRecord *records, uint64_t first_lane) {
    return ((Oracle *)oracle)->feed(events, count, records, first_lane);
}

void racetrap_oracle_end(void *oracle) { ((Oracle *)oracle)->end(); }

uint64_t racetrap_oracle_kernels(void *oracle, const void **address) {
    return hand_over(((Oracle *)oracle)->kernels, address);
}

uint64_t racetrap_oracle_found(void *oracle, const void **address) {
    return hand_over(((Oracle *)oracle)->found, address);
}

uint64_t racetrap_oracle_synchronised(void *oracle, const void **address) {
    return hand_over(((Oracle *)oracle)->synchronised, address);
}

uint64_t racetrap_oracle_divergences(void *oracle, const void **address) {
    return hand_over(((Oracle *)oracle)->divergences, address);
}

void racetrap_oracle_delete(void *oracle) { delete (Oracle *)oracle; }

}  // extern "C"
