// Race oracle by PTX's memory model, compiled. Its results are those of its specification in Python
// (tests/support/ptx_oracle).
#include <deque>
#include <optional>

#include "sc_fences.h"

namespace {

class Analysis {
public:
    explicit Analysis(const KernelArrays &kernel)
        : kernel_(kernel), shadow_(kernel.cell_bits), diverges_(kernel.warps),
          sc_fences_(kernel.warps * actors_of_warp_, kernel.blocks, joins_) {
        int actors = kernel.warps * actors_of_warp_;
        for (uint64_t row = 0; row < kernel.rows; row++)
            has_sc_fences_ |= event(row).kind == FENCE && event(row).order == IMPLIED;
        for (int actor = 0; actor < actors; actor++)
            patterns_.emplace_back(kernel.independent ? 1 : LANES);
        for (uint64_t block = 0; block < kernel.blocks; block++) {
            int first = first_actor(block), count = actor_count(block);
            for (int actor = first; actor < first + count; actor++)
                warps_.emplace_back(Place{actor, (int)block, first, count, actors},
                                    kernel.independent ? 1 : kernel.live[actor]);
        }
    }

    void run() {
        touch();
        shadow_.settle();
        for (uint64_t row = 0; row < kernel_.rows; row++) step(row);
    }

    std::vector<Found> found;
    std::vector<Divergence> divergences;

    const std::vector<PcPair> &synchronised_pairs() {
        pairs_.assign(synchronised_.begin(), synchronised_.end());
        return pairs_;
    }

private:
    // Parts of what a write hands on.
    struct Sources {
        FenceRef fence, device_fence;
        ReleasedRef operation, observed;
        int block = -1;
        bool operator==(const Sources &other) const = default;
    };

    // A candidate for a race of one access.
    struct Candidate {
        uint64_t key;
        Access first;
        uint32_t kind;
        int block;
        bool is_strong;
    };

    // Instances of a race.
    struct Tally {
        size_t number;  // of its finding
        Time last_row = 0;
        std::unordered_set<uint64_t> block_pairs;
    };

    const Event &event(Time row) const { return kernel_.events[row]; }
    uint32_t mask(Time row) const { return event(row).mask ? event(row).mask : ALL_LANES; }
    const LaneRecord *lanes(Time row) const {
        return kernel_.lanes + (event(row).first_lane - kernel_.first_lane);
    }
    // Owners of clocks: warps, or threads as warps of one lane each.
    int first_actor(int block) const { return kernel_.first_warp[block] * actors_of_warp_; }
    int actor_count(int block) const { return kernel_.warp_count[block] * actors_of_warp_; }
    Warp &actor(Time row, int lane) {
        int warp = kernel_.warp[row];
        return warps_[kernel_.independent ? warp * LANES + lane : warp];
    }

    uint64_t memory(Time row) const { return event(row).space ? kernel_.block[row] + 1 : 0; }

    void touch() {
        for (uint64_t row = 0; row < kernel_.rows; row++)
            if (event(row).kind == IF || (kernel_.independent && event(row).kind <= ATOMIC))
                diverges_[kernel_.warp[row]] = true;
        for (uint64_t row = 0; row < kernel_.rows; row++) {
            const Event &each = event(row);
            if (each.kind > ATOMIC) continue;
            uint32_t warp = kernel_.warp[row], lanes_left = mask(row);
            const LaneRecord *record = lanes(row);
            for (; lanes_left; lanes_left &= lanes_left - 1, record++) {
                uint32_t actor = warp * LANES;
                if (diverges_[warp]) actor += __builtin_ctz(lanes_left);
                shadow_.touch(memory(row), record->address, each.size, actor, each.kind != LOAD,
                              each.kind == ATOMIC);
            }
        }
    }

    void step(Time row) {
        const Event &each = event(row);
        if (each.kind == BARRIER) return barrier(row);
        if (each.kind <= ATOMIC) return access(row);
        if (each.kind == FENCE) return fence(row);
        if (each.kind == BARRIER_ARRIVE) return arrive(row);
        if (each.kind == PARTIAL_BARRIER) return partial_barrier(row);
        if (kernel_.independent) {
            if (each.kind == WARP_BARRIER) warp_barrier(row);
            return;
        }
        if (each.kind < IF || each.kind > EXIT) return;
        Warp &warp = warps_[kernel_.warp[row]];
        switch (each.kind) {
        case IF: return warp.begin_if(mask(row), row);
        case ELSE: return warp.begin_else(row);
        case FI: return warp.end_if(row, joins_);
        default: return warp.exit(mask(row));
        }
    }

    void barrier(Time row) {
        int block = kernel_.block[row];
        int first = first_actor(block), count = actor_count(block);
        Known far;
        for (int warp = first; warp < first + count; warp++) {
            if (uint32_t absent = warps_[warp].absent())
                divergences.push_back({event(row).pc, (uint32_t)block, (uint32_t)warp,
                                       (uint32_t)__builtin_ctz(absent)});
            far = warps_[warp].far(far, joins_);
        }
        if (far) {
            auto outside = new Knowledge(*far);
            far = Known(outside);
            outside->forget(first, count);
        }
        for (int warp = first; warp < first + count; warp++) warps_[warp].pass_barrier(row, far);
    }

    void warp_barrier(Time row) {
        int first = kernel_.warp[row] * LANES;
        synchronise(row, first, mask(row), 1, Known());
    }

    // What has arrived at a barrier that has not been passed.
    Known &arrived(Time row) {
        return arrived_[(uint64_t)kernel_.block[row] << 32 | event(row).grid_block];
    }

    void arrive(Time row) {
        Known &known = arrived(row);
        int first = kernel_.warp[row] * actors_of_warp_;
        for (int number = first; number < first + actors_of_warp_; number++)
            known = joins_.join(known, publish(row, number));
    }

    void partial_barrier(Time row) {
        synchronise(row, first_actor(kernel_.block[row]), event(row).mask, actors_of_warp_,
                    std::move(arrived(row)));
        arrived(row) = Known();
    }

    Known publish(Time row, int number) const {
        return warps_[number].clock.publish(warps_[number].place, row);
    }

    // Orders actors behind each other, and behind what has arrived.  Each bit of the mask stands for
    // `size` actors, counted from the first one.
    void synchronise(Time row, int first, uint32_t mask, int size, Known known) {
        std::vector<int> actors;
        for (; mask; mask &= mask - 1)
            for (int each = 0; each < size; each++)
                actors.push_back(first + __builtin_ctz(mask) * size + each);
        for (int each : actors) known = joins_.join(known, publish(row, each));
        for (int each : actors) warps_[each].acquire(known, joins_);
    }

    void fence(Time row) {
        if (kernel_.is_part[row]) return;
        if (!kernel_.independent) return fence(row, mask(row), actor(row, 0));
        for (uint32_t left = mask(row); left; left &= left - 1)
            fence(row, 1, actor(row, __builtin_ctz(left)));
    }

    void fence(Time row, uint32_t lanes, Warp &warp) {
        uint8_t order = event(row).order;
        bool is_device = event(row).scope;
        lanes &= warp.active;
        OpenPatterns &patterns = patterns_[warp.place.warp];
        if (order == IMPLIED || acquires(order)) {
            Known known;
            auto past = [&] { return warp.clock.publish(warp.place, row); };
            for (uint32_t left = lanes; left; left &= left - 1)
                known = patterns.acquire(__builtin_ctz(left), warp.place, is_device, known, past,
                                         synchronised_, joins_);
            warp.acquire(known, joins_);
        }
        if (order == IMPLIED) sc_fences_.add(row, warp, lanes, is_device);
        if (order == IMPLIED || releases(order))
            patterns.release_fence(lanes, FenceRef(new Fence(warp.clock, warp.place, row)),
                                   is_device);
    }

    void access(Time row) {
        const Event &each = event(row);
        uint32_t succeeds = each.kind == ATOMIC && each.op == CAS ? each.success_mask : ALL_LANES;
        const LaneRecord *record = lanes(row);
        Known known;
        for (uint32_t left = mask(row); left; left &= left - 1, record++) {
            shadow_.cells(memory(row), record->address, each.size, cells_);
            if (cells_.empty()) continue;
            uint8_t lane = __builtin_ctz(left);
            bool writes = each.kind == STORE || (each.kind == ATOMIC && succeeds >> lane & 1);
            Warp &warp = actor(row, lane);
            if (kernel_.independent)
                warp.acquire(access(row, warp, 0, record->address, writes, Known()), joins_);
            else
                known = access(row, warp, lane, record->address, writes, std::move(known));
        }
        if (!kernel_.independent) actor(row, 0).acquire(known, joins_);
    }

    // For one lane: its knowledge is joined with the given one.
    Known access(Time row, Warp &warp, uint8_t lane, uint64_t address, bool writes, Known known) {
        const Event &each = event(row);
        uint8_t order = kernel_.order[row];
        Access access{row, warp.place.warp, each.pc, lane};
        uint32_t kind = kind_of(each, order, writes);
        int block = warp.place.block;
        OpenPatterns::Location location{address ^ memory(row) << 40, each.size};
        Message *observed = each.kind == STORE ? nullptr : read(access, kind, block, address);
        Known acquired;
        OpenPatterns &patterns = patterns_[warp.place.warp];
        if (observed && observed->released)
            patterns.observe(lane, location, each.pc, observed,
                             kinds_[kind].is_volatile || kinds_[observed->kind].is_volatile,
                             joins_);
        if (each.kind != STORE && acquires(order))
            acquired = patterns.acquire_at(
                lane, location, warp.place, each.scope,
                [&] { return warp.clock.publish(warp.place, row); }, synchronised_, joins_);
        std::optional<Clock> own;
        const Clock *clock = &warp.clock;
        auto learn = [&](const Known &news) {
            if (!news) return;
            if (!own) own = *clock;
            own->far = joins_.join(own->far, news);
            clock = &*own;
        };
        learn(acquired);
        check(access, kind, warp.place, *clock, address);
        if (has_sc_fences_) {
            Known news = communicate(access, kind, writes, observed, warp.place, *clock);
            if (news) {
                news = Knowledge::of_communicated(news);
                learn(news);
                acquired = joins_.join(acquired, news);
            }
        }
        Message *message = nullptr;
        if (each.kind != LOAD && releases(order)) {
            // The operation itself precedes what acquires it; a CAS that fails is one too.
            auto before = patterns.operation(lane, location);
            auto operation = before ? new Released(*before) : new Released(kernel_.blocks);
            patterns.release_operation(lane, location, ReleasedRef(operation));
            operation->release(block, clock->publish(warp.place, row), each.scope, joins_);
        }
        auto is_observable = [&](const Cell *cell) {
            return cell->is_observable(kinds_[kind]);
        };
        if (std::any_of(cells_.begin(), cells_.end(), is_observable)) {
            ReleasedRef released;
            if (each.strong)
                released = release(access, block, location,
                                   observed ? observed->released : ReleasedRef());
            const Message *last = cells_[0]->message;
            message = &messages_.emplace_back(access, kind, block, address, released);
            if (last && is_overwritten(*last, *message)) message->overwrite(*last);
            if (observed) observed->successor = message;
        }
        for (Cell *cell : cells_) {
            if (is_observable(cell)) cell->list(kind, block).add(message);
            else cell->list(kind, block).add(access);
            if (writes) cell->message = message;
        }
        if (!acquired) return known;
        return joins_.join(known, acquired);
    }

    // Knowledge that an access receives from the write that it reads.
    Known communicate(const Access &access, uint32_t kind, bool writes, const Message *observed,
                      const Place &place, const Clock &clock) {
        Known news;
        const Known &past = sc_fences_.past(clock, place);
        if (event(access.row).kind != STORE) sc_fences_.read(cells_, observed, past, news);
        if (!writes) return news;
        auto is_known = [&](int warp, int lane, Time time) {
            return clock.knows(place, warp, lane, time, access.row - 1);
        };
        auto is_behind = [&](Cell &cell) {
            const Communication &there = cell.communication();
            const Access &last = there.last;
            return morally_strong(kinds_[kind], kinds_[there.kind], there.block == place.block) ||
                   is_known(last.warp, last.lane, last.row) ||
                   (cell.message && is_observed(cell.message, access, is_known));
        };
        sc_fences_.write(cells_, access, kind, place.block, past, news, is_behind);
        return news;
    }

    uint32_t kind_of(const Event &event, uint8_t order, bool writes) {
        bool is_volatile = event.strong && event.kind != ATOMIC && order == IMPLIED;
        bool is_device = event.scope;
        uint64_t key = (uint64_t)event.pc << 16 | event.size << 8 | (event.strong != 0) << 3 |
                       is_device << 2 | is_volatile << 1 | writes;
        auto [place, is_new] = kind_numbers_.try_emplace(key, kinds_.size());
        if (is_new)
            kinds_.push_back(
                {event.size, event.strong != 0, is_device, is_volatile, writes,
                 pc_number(event.pc)});
        return place->second;
    }

    // Whether accesses of threads of two blocks are morally strong, given a common byte.
    static bool morally_strong(const Kind &one, const Kind &other, bool is_same_block) {
        return one.is_strong && other.is_strong && one.size == other.size &&
               (is_same_block || (one.is_device && other.is_device));
    }

    // The write that a strong read observes, if it does: one that is morally strong with it, as all
    // of its own thread are.
    Message *read(const Access &access, uint32_t kind, int block, uint64_t address) {
        Message *message = cells_[0]->message;
        if (!message || message->start != address) return nullptr;
        for (Cell *cell : cells_)
            if (cell->message != message) return nullptr;
        const Kind &own = kinds_[kind], &other = kinds_[message->kind];
        bool is_own = own.is_strong && own.size == other.size && message->access.is_of_thread(access);
        if (!is_own && !morally_strong(own, other, block == message->block)) return nullptr;
        message->observe(access);
        return message;
    }

    // Whether a volatile store comes right behind another of its thread.
    bool is_overwritten(const Message &last, const Message &later) const {
        const Kind &one = kinds_[last.kind], &other = kinds_[later.kind];
        return one.is_volatile && other.is_volatile && one.size == other.size &&
               one.is_device == other.is_device && last.start == later.start &&
               last.access.is_of_thread(later.access);
    }

    // What a strong write releases and hands on.
    ReleasedRef release(const Access &access, int block, OpenPatterns::Location location,
                        const ReleasedRef &observed) {
        OpenPatterns &patterns = patterns_[access.warp];
        Sources sources{patterns.fence(access.lane), patterns.device_fence(access.lane),
                        patterns.operation(access.lane, location), observed, block};
        if (!(sources == last_sources_)) {
            last_sources_ = sources;
            last_released_ = released_by(sources);
        }
        return last_released_;
    }

    ReleasedRef released_by(const Sources &sources) {
        if (!sources.fence && !sources.operation) return sources.observed;
        auto released = sources.observed ? new Released(*sources.observed)
                                         : new Released(kernel_.blocks);
        ReleasedRef result(released);
        if (sources.fence) released->release(sources.block, sources.fence->known(), false, joins_);
        if (sources.device_fence)
            released->release(sources.block, sources.device_fence->known(), true, joins_);
        if (sources.operation) released->add(*sources.operation, joins_);
        return result;
    }

    // Looks for earlier accesses that nothing orders with this one.
    void check(const Access &access, uint32_t kind, const Place &place, const Clock &clock,
               uint64_t address) {
        asked_++;
        const Kind &own = kinds_[kind];
        auto is_known = [&](int warp, int lane, Time time) {
            return clock.knows(place, warp, lane, time, access.row - 1);
        };
        auto is_ordered = [&](Message *message) {
            const Access &written = message->access;
            if (is_known(written.warp, written.lane, written.row)) return true;
            return is_observed(message, access, is_known);
        };
        for (Cell *cell : cells_) {
            candidates_.clear();
            for (List &list : cell->lists) {
                const Kind &other = kinds_[list.kind];
                if (!own.writes && !other.writes) continue;
                bool is_near = list.block == place.block;
                bool is_strong = morally_strong(own, other, is_near);
                uint64_t silent = (uint64_t)kind << 1 | is_near;
                if (is_strong && list.silent == silent) continue;
                uint64_t key = key_of(other, own, is_strong, is_near);
                if (is_strong && tallies_.count(key)) {
                    list.silent = silent;
                    continue;
                }
                Access first;
                bool is_found =
                    cell->is_observable(other)
                        ? list.unordered_message(access, is_strong, is_ordered, first)
                        : list.unordered(access, is_known, first);
                if (is_found) candidates_.push_back({key, first, list.kind, list.block, is_strong});
            }
            report(access, kind, place.block, address);
        }
    }

    uint32_t pc_number(uint32_t pc) {
        return pc_numbers_.try_emplace(pc, pc_numbers_.size()).first->second;
    }

    // Two races are the same if these agree: program counters of both accesses, and the rest.
    uint64_t key_of(const Kind &first, const Kind &second, bool is_strong, bool is_near) {
        uint64_t one = first.pc_number, other = second.pc_number;
        return one << 33 | other << 2 | is_strong << 1 | is_near;
    }

    // Of the candidates of a cell that are one race the latest is reported, the others count.
    void report(const Access &access, uint32_t kind, int block, uint64_t address) {
        std::sort(candidates_.begin(), candidates_.end(), [](const auto &one, const auto &other) {
            return std::tie(one.first.row, one.first.warp, one.first.lane) >
                   std::tie(other.first.row, other.first.warp, other.first.lane);
        });
        const Kind &own = kinds_[kind];
        for (const Candidate &each : candidates_) {
            auto [place, is_new] = tallies_.try_emplace(each.key, Tally{found.size(), 0, {}});
            Tally &tally = place->second;
            if (!is_new && each.is_strong) continue;
            if (is_new) {
                const Kind &other = kinds_[each.kind];
                bool is_narrow =
                    own.is_strong && other.is_strong && own.size == other.size && !each.is_strong;
                found.push_back({address, (uint32_t)each.first.row, (uint32_t)access.row, 0, 0,
                                 lane_of(each.first), lane_of(access), each.is_strong, is_narrow,
                                 own.is_volatile || other.is_volatile, {}});
            }
            Found &race = found[tally.number];
            race.instances += tally.last_row != access.row;
            tally.last_row = access.row;
            auto [low, high] = std::minmax(each.block, block);
            tally.block_pairs.insert((uint64_t)low << 32 | high);
            race.block_pairs = tally.block_pairs.size();
        }
    }

    uint8_t lane_of(const Access &access) const {
        return kernel_.independent ? access.warp % LANES : access.lane;
    }

    // Whether a read that observes a message, directly or through atomics, is in the past.
    template <class IsKnown>
    bool is_observed(Message *message, const Access &access, IsKnown is_known) {
        Message *end = message;
        bool is_found = false;
        while (end && end->asked != asked_) {
            for (const Access &each : end->observers)
                if (each.row < access.row && is_known(each.warp, each.lane, each.row))
                    is_found = true;
            if (is_found) break;
            end = end->successor;
        }
        if (!is_found && end) is_found = end->is_observed;
        for (Message *each = message;; each = each->successor) {
            if (!each || each->asked == asked_) break;
            each->asked = asked_;
            each->is_observed = is_found;
            if (each == end) break;
        }
        return is_found;
    }

    const KernelArrays kernel_;
    const int actors_of_warp_ = kernel_.independent ? LANES : 1;
    Joins joins_;
    Shadow shadow_;
    std::vector<char> diverges_;  // by warp
    std::unordered_map<uint64_t, Known> arrived_;  // by block and number of a barrier
    std::deque<Warp> warps_;
    std::deque<OpenPatterns> patterns_;
    std::deque<Message> messages_;
    ScFences sc_fences_;
    bool has_sc_fences_ = false;
    std::set<PcPair> synchronised_;
    std::vector<PcPair> pairs_;
    std::vector<Kind> kinds_;
    std::unordered_map<uint64_t, uint32_t> kind_numbers_;
    std::unordered_map<uint32_t, uint32_t> pc_numbers_;
    std::unordered_map<uint64_t, Tally> tallies_;
    uint64_t asked_ = 0;
    Sources last_sources_;
    ReleasedRef last_released_;
    // Of the access that is being judged.
    std::vector<Cell *> cells_;
    std::vector<Candidate> candidates_;
};

template <class T> uint64_t hand_over(const std::vector<T> &items, const void **address) {
    *address = items.data();
    return items.size();
}

}  // namespace

extern "C" {

void *racetrap_oracle_new(const KernelArrays *kernel) {
    auto analysis = new Analysis(*kernel);
    analysis->run();
    return analysis;
}

uint64_t racetrap_oracle_found(void *analysis, const void **address) {
    return hand_over(((Analysis *)analysis)->found, address);
}

uint64_t racetrap_oracle_synchronised(void *analysis, const void **address) {
    return hand_over(((Analysis *)analysis)->synchronised_pairs(), address);
}

uint64_t racetrap_oracle_divergences(void *analysis, const void **address) {
    return hand_over(((Analysis *)analysis)->divergences, address);
}

void racetrap_oracle_delete(void *analysis) { delete (Analysis *)analysis; }

}  // extern "C"
