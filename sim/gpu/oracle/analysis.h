// Analysis of a kernel, event by event.
#pragma once

#include <optional>
#include <set>

#include "races.h"
#include "weak_accesses.h"

// What is the same for all kernels.
struct Judging {
    bool is_independent, volatile_may_conflict;
    std::unordered_set<uint32_t> access_pcs;  // fences with one of these are part of an access
};

class Analysis {
public:
    Analysis(const Judging &judging, uint64_t first_event)
        : judging_(judging), places_(judging.is_independent), sc_fences_(places_, kinds_, joins_),
          races_(places_, kinds_, first_event), weak_(places_, shadow_, kinds_, sc_fences_) {}

    const std::vector<Found> &found() const { return races_.found; }
    std::vector<Divergence> divergences;
    std::set<PcPair> synchronised;
    // Locations whose accesses may race with some that are no longer kept.
    uint64_t unknown() const { return unknown_ + weak_.unknown; }
    size_t warp_count() const { return places_.warp_count(); }

    void step(const Event &event, const LaneRecord *records) {
        row_++;
        event_ = &event, records_ = records;
        mask_ = event.mask ? event.mask : ALL_LANES;
        switch (event.kind) {
        case BLOCK_PLACED: return places_.place(event);
        case BLOCK_RETIRED: return retire();
        case BARRIER: return barrier();
        case BARRIER_ARRIVE: return arrive();
        case PARTIAL_BARRIER: return partial_barrier();
        case CLUSTER_ARRIVE: return arrive_at_cluster();
        case CLUSTER_WAIT: return wait_for_cluster();
        }
        if (event.kind > EXIT && event.kind != WARP_BARRIER) return;
        if (event.kind >= KERNEL_BEGIN && event.kind < IF) return;
        number_ = places_.warp_of(event);
        block_ = places_.block_of_warp(number_);
        memory_ = event.space ? places_.cluster_of(block_) + 1 : 0;
        is_of_block_ = memory_ && !places_.has_cluster(block_);
        if (event.kind <= ATOMIC) return access();
        if (event.kind == FENCE) return fence();
        if (event.kind == EXIT && places_.has_cluster(block_)) exit_in_cluster();
        if (judging_.is_independent) {
            if (event.kind == WARP_BARRIER)
                synchronise(number_ * LANES, mask_, 1, Known());
            return;
        }
        Warp &warp = places_.actor(number_);
        switch (event.kind) {
        case IF: return warp.begin_if(mask_, row_);
        case ELSE: return warp.begin_else(row_);
        case FI: return warp.end_if(row_, joins_);
        case EXIT: return warp.exit(mask_);
        }
    }

private:
    // Parts of what a write hands on.
    struct Sources {
        OpenPatterns::Fences fences;
        ReleasedRef operation, observed;
        int block = -1;
        bool operator==(const Sources &other) const = default;
    };

    void retire() {
        int block = places_.block_of(*event_);
        sc_fences_.forget(block, places_.first_actor(block), places_.actor_count(block));
        if (places_.retire(block)) shadow_.forget(places_.cluster_of(block) + 1);
    }

    void barrier() {
        int block = places_.block_of(*event_);
        int first = places_.first_actor(block), count = places_.actor_count(block);
        Known far;
        for (int warp = first; warp < first + count; warp++) {
            if (uint32_t absent = places_.actor(warp).absent())
                divergences.push_back({event_->pc, places_.block(block).grid_block,
                                       (uint32_t)((warp - first) * LANES + __builtin_ctz(absent))});
            far = places_.actor(warp).far(far, joins_);
        }
        if (far) {
            auto outside = new Knowledge(*far);
            far = Known(outside);
            outside->forget(first, count);
        }
        for (int warp = first; warp < first + count; warp++)
            places_.actor(warp).pass_barrier(row_, far);
    }

    // What has arrived at a barrier that has not been passed.
    Known &arrived() {
        return arrived_[(uint64_t)places_.block_of(*event_) << 32 | event_->grid_block];
    }

    void arrive() {
        Known &known = arrived();
        int size = places_.size, first = places_.warp_of(*event_) * size;
        for (int number = first; number < first + size; number++)
            known = joins_.join(known, publish(number));
    }

    void partial_barrier() {
        synchronise(places_.first_actor(places_.block_of(*event_)), event_->mask, places_.size,
                    std::move(arrived()));
        arrived() = Known();
    }

    // Calls with each lane of an event, its actor and lane there, and its part of the barrier of the
    // cluster: a thread arrives in two phases by turns.
    template <class Visit> void each_at_cluster(Visit visit) {
        int warp = places_.warp_of(*event_), cluster = places_.cluster_of(places_.block_of(*event_));
        for (uint32_t left = mask_; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            bool is_thread = places_.size > 1;
            visit(is_thread ? warp * LANES + lane : warp, is_thread ? 0 : lane,
                  phases_[warp * LANES + lane], given_[cluster]);
        }
    }

    void arrive_at_cluster() {
        each_at_cluster([&](int number, int lane, uint8_t &phase, Given &given) {
            phase ^= 1;
            if (event_->order == RELEASE) {
                given[phase] = joins_.join(given[phase], publish(number));
            } else if (const FenceRef &fence = places_.patterns(number).fences(lane)[IN_CLUSTER]) {
                given[phase] = joins_.join(given[phase], fence->known(joins_));
            }
        });
    }

    void wait_for_cluster() {
        each_at_cluster([&](int number, int, uint8_t &phase, Given &given) {
            places_.actor(number).acquire(given[phase], joins_);
        });
    }

    // When all threads of a block have exited its shared memory ends: accesses by other blocks must
    // come before.
    void exit_in_cluster() {
        const PlacedBlock &block = places_.block(block_);
        if ((exited_[block_] += __builtin_popcount(mask_)) < block.threads) return;
        Known known;
        int first = places_.first_actor(block_), count = places_.actor_count(block_);
        for (int actor = first; actor < first + count; actor++)
            known = joins_.join(known, publish(actor));
        asked_++;
        auto is_known = [&](int warp, int lane, Time time) { return known->of(warp, lane) >= time; };
        auto [place, is_new] =
            kind_numbers_.try_emplace((uint64_t)event_->pc << 16 | 0xffff, kinds_.size());
        if (is_new)
            kinds_.push_back({0, false, IN_BLOCK, false, true, event_->pc, pc_number(event_->pc)});
        Access end = place_of(__builtin_ctz(mask_));
        uint64_t memory = block.cluster + 1;
        shadow_.each_of_rank(memory, block_ - block.cluster, [&](uint64_t address, uint32_t &slot) {
            bool is_cell = slot & IS_CELL;
            Cell &cell = is_cell ? shadow_.cell(slot)
                                 : weak_.make_cell(slot, address, has_sc_fences_, joins_);
            candidates_.clear();
            for (List &list : cell.lists) {
                if (list.block == block_) continue;
                auto is_ordered = [&](Message *message) {
                    const Access &written = message->access;
                    return is_known(written.warp, written.lane, written.row) ||
                           is_observed(message, end, is_known);
                };
                Access found;
                if (list.unordered_message(end, false, is_ordered, found) ||
                    list.unordered(end, is_known, found))
                    candidates_.push_back({Races::key_of(kinds_[list.kind], kinds_[place->second],
                                                         false, false),
                                           found, list.kind, list.block, false,
                                           cell.is_cut || list.is_cut});
            }
            races_.report(candidates_, end, place->second, block_, address, memory);
        });
    }

    Known publish(int number) {
        const Warp &actor = places_.actor(number);
        return actor.clock.publish(actor.place, row_, joins_);
    }

    // Orders actors behind each other, and behind what has arrived.  Each bit of the mask stands for
    // `size` actors, counted from the first one.
    void synchronise(int first, uint32_t mask, int size, Known known) {
        std::vector<int> actors;
        for (; mask; mask &= mask - 1)
            for (int each = 0; each < size; each++)
                actors.push_back(first + __builtin_ctz(mask) * size + each);
        for (int each : actors) known = joins_.join(known, publish(each));
        for (int each : actors) places_.actor(each).acquire(known, joins_);
    }

    void fence() {
        if (judging_.access_pcs.count(event_->pc)) return;
        if (!judging_.is_independent) return fence(mask_, places_.actor(number_));
        for (uint32_t left = mask_; left; left &= left - 1)
            fence(1, places_.actor(number_ * LANES + __builtin_ctz(left)));
    }

    void fence(uint32_t lanes, Warp &warp) {
        auto order = event_->order;
        Reach reach = reach_of(event_->scope);
        lanes &= warp.active;
        OpenPatterns &patterns = places_.patterns(warp.place.warp);
        if (order == IMPLIED || acquires(order)) {
            Known known;
            auto past = [&] { return warp.clock.publish(warp.place, row_, joins_); };
            for (uint32_t left = lanes; left; left &= left - 1)
                known = patterns.acquire(__builtin_ctz(left), reach, known, warp.clock.far, past,
                                         synchronised, joins_);
            warp.acquire(known, joins_);
        }
        if (order == IMPLIED) {
            has_sc_fences_ = true;
            warp.team.touch();
            patterns.release_fence(lanes, sc_fences_.add(row_, warp, lanes, reach), reach);
        } else if (releases(order)) {
            patterns.release_fence(lanes, FenceRef(new Fence(warp.clock, warp.place, row_)), reach);
        }
    }

    void access() {
        const Event &each = *event_;
        if (each.size >> shadow_.bits() == 0) shadow_.refine(__builtin_ctz(each.size));
        bool is_weak = !each.strong && each.kind != ATOMIC;
        bool may_differ =
            each.strong && (judging_.volatile_may_conflict || each.order != IMPLIED);
        if (each.kind == STORE && !may_differ) compare_stored();
        uint32_t succeeds = each.kind == ATOMIC && each.op == CAS ? each.success_mask : ALL_LANES;
        uint32_t left = mask_;
        if (is_weak)
            left = weak_.take({row_, number_, block_, kind_of(each.kind == STORE), memory_,
                               is_of_block_, has_sc_fences_}, records_, mask_);
        if (!left) return;
        const LaneRecord *record = records_;
        Known known;
        for (uint32_t all = mask_; all; all &= all - 1, record++) {
            uint8_t lane = __builtin_ctz(all);
            if (!(left >> lane & 1)) continue;
            bool writes = each.kind == STORE || (each.kind == ATOMIC && succeeds >> lane & 1);
            Warp &warp = places_.actor(number_ * places_.size + (places_.size > 1 ? lane : 0));
            find_cells(record->address, warp.clock.block_time);
            if (judging_.is_independent)
                warp.acquire(access(warp, 0, record->address, writes, Known()), joins_);
            else
                known = access(warp, lane, record->address, writes, std::move(known));
        }
        if (!judging_.is_independent) places_.actor(number_).acquire(known, joins_);
    }

    // Cells of the locations at an address.
    void find_cells(uint64_t address, Time block_time) {
        cells_.clear();
        uint32_t *slot = shadow_.at(memory_, address);
        int bits = shadow_.bits();
        for (int i = 0; i < event_->size >> bits; i++, slot++) {
            bool is_cell = *slot & IS_CELL;
            if (is_of_block_ && *slot && last(*slot) <= block_time) {
                shadow_.clear(*slot);
                is_cell = false;
            }
            Cell &cell = is_cell ? shadow_.cell(*slot)
                                 : weak_.make_cell(*slot, address + ((uint64_t)i << bits),
                                                   has_sc_fences_, joins_);
            cells_.push_back(&cell);
        }
        if (event_->kind == ATOMIC) show_weak_writes(address);
    }

    Time last(uint32_t slot) {
        return slot & IS_CELL ? shadow_.cell(slot).last : shadow_.histories.at(slot)->last().row;
    }

    // Lets atomics of their own threads observe the weak writes of cells that have had none.
    void show_weak_writes(uint64_t address) {
        std::map<std::tuple<Time, int, int, uint32_t>, MessageRef> made;
        for (Cell *cell : cells_) {
            if (cell->has_atomics) continue;
            cell->has_atomics = true;
            for (List &list : cell->lists) {
                const Kind &kind = kinds_[list.kind];
                if (!kind.writes || kind.is_strong) continue;
                list.take_entries([&](Access access) {
                    access.pc = kind.pc;
                    auto &message = made[{access.row, access.warp, access.lane, list.kind}];
                    if (!message) {
                        uint64_t start = address & ~(uint64_t)(kind.size - 1);
                        message = MessageRef(
                            new Message(access, list.kind, list.block, start, ReleasedRef()));
                    }
                    list.add(message);
                    if (!cell->message || cell->message->access.row < access.row)
                        cell->message = message;
                });
            }
        }
    }

    // Lanes of one store may have stored different values to one place.
    void compare_stored() {
        int count = __builtin_popcount(mask_);
        bool is_ascending = true;
        for (int i = 1; i < count; i++)
            is_ascending &= records_[i - 1].address < records_[i].address;
        if (is_ascending) return;
        auto differ = [](const LaneRecord &one, const LaneRecord &other) {
            return one.value != other.value || one.compare != other.compare;
        };
        bool is_found = false;
        for (int i = 0; i < count && !is_found; i++)
            for (int j = 0; j < i && !is_found; j++)
                is_found = records_[i].address == records_[j].address &&
                           differ(records_[i], records_[j]);
        if (!is_found) return;
        unsigned size = event_->size;
        const LaneRecord *other = records_;
        for (uint32_t all = mask_; all; all &= all - 1, other++) {
            const LaneRecord *one = records_;
            for (uint32_t before = mask_; one != other; before &= before - 1, one++) {
                if (other->address >= one->address + size || one->address >= other->address + size ||
                    !differ(*one, *other))
                    continue;
                races_.report_store(place_of(__builtin_ctz(before)), place_of(__builtin_ctz(all)),
                                    kinds_[kind_of(true)], block_, other->address, memory_);
                return;
            }
        }
    }

    Access place_of(int lane) const {
        bool is_thread = judging_.is_independent;
        return {row_, is_thread ? number_ * LANES + lane : number_, event_->pc,
                is_thread ? (uint8_t)0 : (uint8_t)lane, event_->kind};
    }

    // For one lane: its knowledge is joined with the given one.
    Known access(Warp &warp, uint8_t lane, uint64_t address, bool writes, Known known) {
        const Event &each = *event_;
        Access access{row_, warp.place.warp, each.pc, lane, each.kind};
        uint32_t kind = kind_of(writes);
        int block = warp.place.block;
        OpenPatterns::Location location{address ^ memory_ << 40, each.size};
        MessageRef observed = each.kind == STORE ? MessageRef() : read(access, kind, address);
        Known acquired;
        OpenPatterns &patterns = places_.patterns(warp.place.warp);
        if (observed && observed->released)
            patterns.observe(lane, location, each.pc, observed.get(),
                             kinds_[kind].is_volatile || kinds_[observed->kind].is_volatile,
                             joins_);
        if (each.kind != STORE && acquires(each.order))
            acquired = patterns.acquire_at(
                lane, location, reach_of(each.scope), warp.clock.far,
                [&] { return warp.clock.publish(warp.place, row_, joins_); }, synchronised, joins_);
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
            Known news = communicate(access, kind, writes, (bool)observed, warp.place, *clock);
            if (news) {
                news = Knowledge::of_communicated(news);
                learn(news);
                acquired = joins_.join(acquired, news);
            }
        }
        MessageRef message;
        if (each.kind != LOAD && releases(each.order)) {
            // The operation itself precedes what acquires it; a CAS that fails is one too.
            auto before = patterns.operation(lane, location);
            auto operation = before ? new Released(*before) : new Released();
            patterns.release_operation(lane, location, ReleasedRef(operation));
            Known known = clock->publish(warp.place, row_, joins_);
            for_distances(block, reach_of(each.scope), [&](Reach distance) {
                operation->release(warp.place, known, distance, joins_);
            });
        }
        auto is_observable = [&](const Cell *cell) {
            return cell->is_observable(kinds_[kind]);
        };
        if (std::any_of(cells_.begin(), cells_.end(), is_observable)) {
            ReleasedRef released;
            if (each.strong)
                released = release(patterns, lane, warp.place, location,
                                   observed ? observed->released : ReleasedRef());
            MessageRef last = cells_[0]->message;
            message = MessageRef(new Message(access, kind, block, address, released));
            if (last && is_overwritten(*last, *message)) message->overwrite(*last);
            if (observed) observed->successor = message;
        }
        for (Cell *cell : cells_) {
            if (is_observable(cell)) cell->list(kind, block, writes).add(message);
            else cell->list(kind, block, writes).add(access);
            if (writes) cell->message = message;
            cell->last = row_;
        }
        if (!acquired) return known;
        return joins_.join(known, acquired);
    }

    // Knowledge that an access receives from the write that it reads.
    Known communicate(const Access &access, uint32_t kind, bool writes, bool observes,
                      const Place &place, const Clock &clock) {
        Known news;
        const Known &past = sc_fences_.past(clock, place);
        if (event_->kind != STORE) sc_fences_.read(cells_, observes, past, news);
        if (!writes) return news;
        auto is_known = [&](int warp, int lane, Time time) {
            return clock.knows(place, warp, lane, time, access.row - 1);
        };
        auto is_behind = [&](Cell &cell) {
            const Communication &there = cell.communication(kinds_);
            const Access &last = there.last;
            return morally_strong(kinds_[kind], kinds_[there.kind],
                                  places_.distance(there.block, place.block)) ||
                   is_known(last.warp, last.lane, last.row) ||
                   (cell.message && is_observed(cell.message.get(), access, is_known));
        };
        sc_fences_.write(cells_, access, kind, place.block, past, news, is_behind);
        return news;
    }

    uint32_t kind_of(bool writes) {
        const Event &each = *event_;
        bool is_volatile = each.strong && each.kind != ATOMIC && each.order == IMPLIED;
        Reach reach = reach_of(each.scope);
        uint64_t key = (uint64_t)each.pc << 16 | each.size << 8 | (each.strong != 0) << 4 |
                       reach << 2 | is_volatile << 1 | writes;
        if (key == last_key_) return last_kind_;
        auto [place, is_new] = kind_numbers_.try_emplace(key, kinds_.size());
        if (is_new)
            kinds_.push_back({each.size, each.strong != 0, reach, is_volatile, writes,
                              each.pc, pc_number(each.pc)});
        last_key_ = key;
        return last_kind_ = place->second;
    }

    uint32_t pc_number(uint32_t pc) {
        return pc_numbers_.try_emplace(pc, pc_numbers_.size()).first->second;
    }

    // Whether accesses of threads at a distance are morally strong, given a common byte.
    static bool morally_strong(const Kind &one, const Kind &other, Reach distance) {
        return one.is_strong && other.is_strong && one.size == other.size &&
               std::min(one.reach, other.reach) >= distance;
    }

    // The write that a strong read observes, if it does: one that is morally strong with it, as all
    // of its own thread are.
    MessageRef read(const Access &access, uint32_t kind, uint64_t address) {
        const MessageRef &message = cells_[0]->message;
        if (!message || message->start != address) return MessageRef();
        for (Cell *cell : cells_)
            if (cell->message != message) return MessageRef();
        const Kind &own = kinds_[kind], &other = kinds_[message->kind];
        bool is_own = own.is_strong && own.size == other.size && message->access.is_of_thread(access);
        if (!is_own && !morally_strong(own, other, places_.distance(block_, message->block)))
            return MessageRef();
        message->observe(access);
        return message;
    }

    // Whether a volatile store comes right behind another of its thread.
    bool is_overwritten(const Message &last, const Message &later) const {
        const Kind &one = kinds_[last.kind], &other = kinds_[later.kind];
        return one.is_volatile && other.is_volatile && one.size == other.size &&
               one.reach == other.reach && last.start == later.start &&
               last.access.is_of_thread(later.access);
    }

    // Calls with each distance that a scope includes, at which a block has others.
    template <class Visit> void for_distances(int block, Reach reach, Visit visit) const {
        visit(IN_BLOCK);
        if (reach >= IN_CLUSTER && places_.has_cluster(block)) visit(IN_CLUSTER);
        if (reach == ON_DEVICE) visit(ON_DEVICE);
    }

    // What a strong write releases and hands on.
    ReleasedRef release(const OpenPatterns &patterns, int lane, const Place &place,
                        OpenPatterns::Location location, const ReleasedRef &observed) {
        Sources sources{patterns.fences(lane), patterns.operation(lane, location), observed,
                        place.block};
        if (!(sources == last_sources_)) {
            last_sources_ = sources;
            last_released_ = released_by(sources, place);
        }
        return last_released_;
    }

    ReleasedRef released_by(const Sources &sources, const Place &place) {
        if (!sources.fences[IN_BLOCK] && !sources.operation) return sources.observed;
        auto released = sources.observed ? new Released(*sources.observed) : new Released();
        ReleasedRef result(released);
        for_distances(place.block, ON_DEVICE, [&](Reach distance) {
            if (const FenceRef &fence = sources.fences[distance])
                released->release(place, fence->known(joins_), distance, joins_);
        });
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
                Reach distance = places_.distance(list.block, place.block);
                bool is_near = distance == IN_BLOCK;
                bool is_strong = morally_strong(own, other, distance);
                uint64_t silent = (uint64_t)kind << 2 | distance;
                if (is_strong && list.silent == silent) continue;
                uint64_t key = Races::key_of(other, own, is_strong, is_near);
                if (is_strong && races_.has(key)) {
                    list.silent = silent;
                    continue;
                }
                Access first;
                bool is_found =
                    cell->is_observable(other)
                        ? list.unordered_message(access, is_strong, is_ordered, first)
                        : list.unordered(access, is_known, first);
                if (!is_found && list.kind == kind && is_near) list.covered = access.row - 1;
                if (is_found)
                    candidates_.push_back({key, first, list.kind, list.block, is_strong,
                                           cell->is_cut || list.is_cut});
            }
            races_.report(candidates_, access, kind, place.block, address, memory_);
            if (!cell->is_unknown && may_race_with_lost(*cell, own, place.block, clock.block_time))
                cell->is_unknown = true, unknown_++;
        }
    }

    // Whether an access may race with some of a cell that are no longer kept, at two program counters
    // that no race has.
    bool may_race_with_lost(const Cell &cell, const Kind &own, int block, Time block_time) const {
        auto may_race = [&](const Lost &lost) {
            if (!lost.may_race(own.writes, block, block_time)) return false;
            if (lost.kind == Lost::SEVERAL) return true;
            const Kind &other = kinds_[lost.kind];
            bool is_strong = morally_strong(own, other, places_.distance(lost.block, block));
            if (is_strong && !own.is_volatile && !other.is_volatile) return false;
            for (bool is_near : {false, true})
                if (races_.has(Races::key_of(other, own, is_strong, is_near))) return false;
            return true;
        };
        auto has_lost = [&](const List &list) {
            // Whether it races with the last of a chain of atomics whenever with others of it.
            const Kind &other = kinds_[list.kind];
            bool is_like_last =
                !own.is_strong || (own.reach == ON_DEVICE && !own.is_volatile && other.is_strong &&
                                   other.reach == ON_DEVICE);
            return may_race(is_like_last ? list.unobserved : list.lost);
        };
        return may_race(cell.lost) ||
               std::any_of(cell.lists.begin(), cell.lists.end(), has_lost) ||
               std::any_of(cell.lost_lists.begin(), cell.lost_lists.end(), has_lost);
    }

    // Whether a read that observes a message, directly or through atomics, is in the past.
    template <class IsKnown>
    bool is_observed(Message *message, const Access &access, IsKnown is_known) {
        Message *end = message;
        bool is_found = false;
        while (end && end->asked != asked_) {
            end->shorten();
            for (const Access &each : end->observers)
                if (each.row < access.row && is_known(each.warp, each.lane, each.row))
                    is_found = true;
            if (is_found) break;
            end = end->successor.get();
        }
        if (!is_found && end) is_found = end->is_observed;
        for (Message *each = message;; each = each->successor.get()) {
            if (!each || each->asked == asked_) break;
            each->asked = asked_;
            each->is_observed = is_found;
            if (each == end) break;
        }
        return is_found;
    }

    const Judging &judging_;
    Time row_ = -1;
    Joins joins_;
    Places places_;
    std::vector<Kind> kinds_;
    Shadow shadow_;
    ScFences sc_fences_;
    Races races_;
    WeakAccesses weak_;
    std::unordered_map<uint64_t, Known> arrived_;  // by block and number of a barrier
    // Of the barrier of a cluster: by lane of all warps the phase in which it has arrived last, and by
    // cluster what those have released that arrived in each.
    using Given = std::array<Known, 2>;
    std::unordered_map<int, uint8_t> phases_;
    std::unordered_map<int, Given> given_;
    std::unordered_map<int, int> exited_;  // by block in a cluster, its threads that have exited
    bool has_sc_fences_ = false;
    std::unordered_map<uint64_t, uint32_t> kind_numbers_;
    std::unordered_map<uint32_t, uint32_t> pc_numbers_;
    uint64_t unknown_ = 0, asked_ = 0, last_key_ = ~(uint64_t)0;
    uint32_t last_kind_ = 0;
    Sources last_sources_;
    ReleasedRef last_released_;
    // Of the event that is taken in: its warp and block, its memory, and the cells of a lane.
    const Event *event_ = nullptr;
    const LaneRecord *records_ = nullptr;
    uint32_t mask_ = 0;
    int number_ = 0, block_ = 0;
    uint64_t memory_ = 0;
    bool is_of_block_ = false;  // whether only threads of the block access the memory
    std::vector<Cell *> cells_;
    std::vector<Candidate> candidates_;
};
