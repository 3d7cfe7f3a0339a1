// ScoRD cycle by cycle: when it takes transactions, when its banks make steps, and when it reads and
// writes metadata.
#include "interleaver.h"
#include "slice_unit.h"

namespace {

class Detector {
public:
    Detector(const Settings &settings, const Region *regions, uint64_t count)
        : settings_(settings), regions_(regions, regions + count), interleaver_(settings_) {
        for (uint32_t sm = 0; sm < settings.sm_count; sm++) sms_.emplace_back(settings_, sm);
        slices_.reserve(settings.metadata_ports);
        for (uint32_t port = 0; port < settings.metadata_ports; port++)
            slices_.emplace_back(settings_, regions_);
    }

    void launch(uint64_t metadata_base, const Region *regions, uint64_t count) {
        settings_.metadata_base = metadata_base;
        regions_.assign(regions, regions + count);
        for (SmUnit &sm : sms_) sm.launch();
        for (SliceUnit &slice : slices_) slice.launch();
    }

    void cycle(SmCycle *sms, SliceCycle *slices) {
        auto takes = [&](size_t port) { return slices_[port].takes(); };
        for (size_t port = 0; port < slices_.size(); port++) slices_[port].settle(slices[port]);
        interleaver_.settle(sms_, takes);
        std::vector<std::optional<Transaction>> taken(sms_.size());
        for (size_t sm = 0; sm < sms_.size(); sm++) {
            sms[sm].fencing = sms_[sm].fencing();
            sms[sm].is_taken = 0;
            if (!sms[sm].transaction) continue;
            Transaction each(settings_.transaction, sms[sm].transaction);
            sms[sm].is_taken = sms_[sm].takes(each, interleaver_.goes(sm));
            if (sms[sm].is_taken) taken[sm] = each;
        }
        std::vector<char> takes_now(slices_.size());
        for (size_t port = 0; port < slices_.size(); port++) takes_now[port] = takes(port);
        for (size_t port = 0; port < slices_.size(); port++)
            slices_[port].edge(slices[port],
                               takes_now[port] ? interleaver_.packet(port) : std::nullopt);
        interleaver_.edge(sms_, [&](size_t port) { return bool(takes_now[port]); });
        for (size_t sm = 0; sm < sms_.size(); sm++)
            sms_[sm].edge(taken[sm] ? &*taken[sm] : nullptr, interleaver_.goes(sm),
                          interleaver_.fenced(sm));
    }

private:
    Settings settings_;
    std::vector<Region> regions_;
    std::vector<SmUnit> sms_;
    Interleaver interleaver_;
    std::vector<SliceUnit> slices_;
};

}  // namespace

extern "C" {

Detector *racetrap_scord_cycles_new(const Settings *settings, const Region *regions,
                                    uint64_t count) {
    return new Detector(*settings, regions, count);
}
void racetrap_scord_cycles_delete(Detector *detector) { delete detector; }
void racetrap_scord_cycles_launch(Detector *detector, uint64_t metadata_base,
                                  const Region *regions, uint64_t count) {
    detector->launch(metadata_base, regions, count);
}
int racetrap_scord_cycles_cycle(Detector *detector, SmCycle *sms, SliceCycle *slices) {
    detector->cycle(sms, slices);
    return 1;
}
}
