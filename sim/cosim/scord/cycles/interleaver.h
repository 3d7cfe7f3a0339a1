// Interleaver, as racetrap.rtl.scord.interleaver and .fence_collector, cycle by cycle.
#pragma once

#include "sm_unit.h"

class Interleaver {
public:
    explicit Interleaver(const Settings &settings)
        : settings_(settings), fifos_(settings.sm_count, Fifo<Packet>(settings.warps_per_sm)),
          lanes_(settings.fence_lanes), lane_turns_(settings.fence_lanes),
          lane_served_(settings.fence_lanes), taken_(settings.metadata_ports),
          fence_goes_(settings.metadata_ports), to_port_(settings.metadata_ports),
          port_turns_(settings.metadata_ports), served_(settings.metadata_ports),
          asking_(settings.metadata_ports), goes_(settings.sm_count),
          fenced_(settings.sm_count) {}

    const std::optional<Segment> &packet(size_t port) const { return to_port_[port].held; }
    // Whether an SM's packet leaves, and the warps whose fence every bank has.
    bool goes(size_t sm) const { return goes_[sm]; }
    uint64_t fenced(size_t sm) const { return fenced_[sm]; }

    // `takes(port)`: whether the banks of a port take what is offered.
    template <class Takes> void settle(const std::vector<SmUnit> &sms, Takes takes) {
        for (auto &asking : asking_) asking.clear();
        for (size_t sm = 0; sm < sms.size(); sm++) {
            const auto &packet = sms[sm].packet();
            goes_[sm] = packet && packet->is_fence() && fifos_[sm].is_ready();
            if (packet && !packet->is_fence())
                asking_[bank_of(settings_, packet->packet.word) / settings_.words_per_cycle]
                    .push_back(sm);
        }
        is_present_ = false;
        for (auto &lane : lanes_) is_present_ |= lane.held.has_value();
        leaves_ = is_present_;
        for (size_t port = 0; port < to_port_.size(); port++) {
            if (is_present_ && !taken_[port]) asking_[port].push_back(sms.size());
            bool is_ready = to_port_[port].is_ready(takes(port));
            served_[port] = is_ready ? port_turns_[port].served(asking_[port]) : -1;
            fence_goes_[port] = served_[port] == int(sms.size());
            leaves_ &= fence_goes_[port] || taken_[port];
            if (served_[port] >= 0 && !fence_goes_[port]) goes_[served_[port]] = true;
        }
        settle_lanes();
    }

    template <class Takes> void edge(const std::vector<SmUnit> &sms, Takes takes) {
        for (size_t port = 0; port < to_port_.size(); port++) {
            std::optional<Segment> next;
            if (fence_goes_[port])
                next = bundle();
            else if (served_[port] >= 0)
                next = *sms[served_[port]].packet();
            if (served_[port] >= 0) port_turns_[port].serve(served_[port]);
            to_port_[port].edge(takes(port), std::move(next));
            taken_[port] = (fence_goes_[port] || taken_[port]) && is_present_ && !leaves_;
        }
        for (size_t lane = 0; lane < lanes_.size(); lane++) {
            int sm = lane_served_[lane];
            if (sm >= 0) lane_turns_[lane].serve(sm);
            lanes_[lane].edge(leaves_, sm < 0 ? std::nullopt : fifos_[sm].out);
        }
        for (size_t sm = 0; sm < fifos_.size(); sm++) {
            const auto &packet = sms[sm].packet();
            bool enters = packet && packet->is_fence() && goes_[sm];
            fifos_[sm].edge(lane_served_[sm % lanes_.size()] == int(sm),
                            enters ? std::optional(packet->packet) : std::nullopt);
        }
    }

private:
    const Settings &settings_;
    std::vector<Fifo<Packet>> fifos_;  // fences of each SM
    std::vector<Register<Packet>> lanes_;
    std::vector<Turns> lane_turns_;
    std::vector<int> lane_served_;
    std::vector<char> taken_, fence_goes_;  // the bundle, by each port
    std::vector<Register<Segment>> to_port_;
    std::vector<Turns> port_turns_;
    std::vector<int> served_;
    std::vector<std::vector<int>> asking_;
    std::vector<char> goes_;
    std::vector<uint64_t> fenced_;
    bool is_present_ = false, leaves_ = false;

    // The next bundle is loaded when the one before has left.
    void settle_lanes() {
        for (uint64_t &fenced : fenced_) fenced = 0;
        bool may_load = !is_present_ || leaves_;
        std::vector<int> asking;
        for (size_t lane = 0; lane < lanes_.size(); lane++) {
            asking.clear();
            for (size_t sm = lane; sm < fifos_.size() && may_load; sm += lanes_.size())
                if (fifos_[sm].out) asking.push_back(sm);
            lane_served_[lane] = lane_turns_[lane].served(asking);
            if (const auto &held = lanes_[lane].held; held && leaves_)
                fenced_[held->block >> settings_.slot_bits] |= uint64_t(1) << held->warp;
        }
    }

    Segment bundle() const {
        Segment segment{{}, 0, 0, std::vector<Packet>(lanes_.size())};
        segment.packet.kind = FENCE;
        for (size_t lane = 0; lane < lanes_.size(); lane++) {
            if (!lanes_[lane].held) continue;
            segment.present |= 1u << lane;
            segment.fences[lane] = *lanes_[lane].held;
        }
        return segment;
    }
};
