// Weak accesses: as long as they are in order they only make histories longer.
#pragma once

#include <algorithm>
#include <vector>

#include "places.h"
#include "sc_fences.h"
#include "shadow.h"

class WeakAccesses {
public:
    WeakAccesses(Places &places, Shadow &shadow, const std::vector<Kind> &kinds,
                 ScFences &sc_fences)
        : places_(places), shadow_(shadow), kinds_(kinds), sc_fences_(sc_fences) {}

    // An access of a warp to a memory.
    struct Instruction {
        Time row;
        int warp, block;
        uint32_t kind;
        uint64_t memory;
        bool is_of_block;  // whether only threads of the block access the memory
        bool has_fences;   // whether there has been a fence.sc
    };

    // Takes in an access; its lanes that race, or come to a cell, are left to others.
    uint32_t take(const Instruction &instruction, const LaneRecord *records, uint32_t mask) {
        now_ = &instruction;
        RunningWarp &warp = places_.warp(instruction.warp);
        block_time_ = warp.actors[0].clock.block_time;
        size_ = kinds_[instruction.kind].size;
        writes_ = kinds_[instruction.kind].writes;
        see(warp);
        divide(records, mask);
        uint32_t left = 0;
        for (Group &group : groups_) left |= check(group);
        pasts_ = instruction.has_fences ? pasts(warp) : Ref<const Pasts>();
        for (const Group &group : groups_) add(group, left);
        return left;
    }

    // Locations whose accesses may race with those that are lost.
    uint64_t unknown = 0;

    // The accesses of a location's history become those of a cell.
    Cell &make_cell(uint32_t &slot, uint64_t address, bool has_fences, Joins &joins) {
        std::vector<Entry> entries;
        bool is_cut = false, is_unknown = false;
        Lost lost;
        if (slot) {
            History *history = shadow_.histories.at(slot);
            entries.assign(history->entries(), history->entries() + history->count);
            is_cut = history->is_cut, is_unknown = history->is_unknown, lost = history->lost;
        }
        Cell &cell = shadow_.make_cell(slot);
        cell.is_cut = is_cut, cell.is_unknown = is_unknown, cell.lost = lost;
        auto communication = std::make_unique<Communication>();
        for (const Entry &each : entries) {
            const Kind &kind = kinds_[each.kind];
            int block = places_.block_of_warp(each.warp);
            for (uint32_t left = each.lanes_at().at(address); left; left &= left - 1) {
                uint8_t lane = __builtin_ctz(left);
                bool is_thread = places_.size > 1;
                Access access{each.row, is_thread ? each.warp * LANES + lane : each.warp, kind.pc,
                              is_thread ? (uint8_t)0 : lane,
                              kind.writes ? (uint8_t)STORE : (uint8_t)LOAD};
                if (each.previous) {
                    Access previous = access;
                    previous.row = each.previous;
                    cell.list(each.kind, block, kind.writes).add(previous);
                }
                cell.list(each.kind, block, kind.writes).add(access);
                Known past = each.pasts ? each.pasts->of(lane) : Known();
                communication->add(access, each.kind, block, kind.writes, past, joins);
            }
            cell.last = each.row;
        }
        if (has_fences && !entries.empty()) cell.communicate(std::move(communication));
        return cell;
    }

private:
    struct Word {
        uint32_t *slot;
        uint64_t address;
        uint32_t lanes;
    };
    // Locations of some lanes with one past.
    struct Group {
        uint32_t past;  // number of their history or cell
        LanesAt at;
        int first, count;  // of their places in words_, or of lanes side by side
        Word start{};  // in that case the first one's; no slot otherwise
        uint32_t known = 0, dropped = 0;  // entries, a bit each
        bool is_over = false;  // whether all of the past is behind a barrier of the block

        uint32_t lanes() const { return ((1ull << count) - 1) << __builtin_ctz(start.lanes); }
    };

    Word word(const Group &group, int number) const {
        const Word &start = group.start;
        if (!start.slot) return words_[group.first + number];
        uint64_t address = start.address + ((uint64_t)number << shadow_.bits());
        return {start.slot + number, address, start.lanes << number};
    }

    // What the lanes have in common.
    void see(RunningWarp &warp) {
        Team &team = warp.team;
        if (!team.is_checked) {
            team.is_checked = team.is_uniform = true;
            for (const Warp &each : warp.actors)
                team.is_uniform &= each.clock.far == warp.actors[0].clock.far;
        }
        far_ = team.is_uniform ? warp.actors[0].clock.far.get() : nullptr;
    }

    // Numbers of the lanes of a mask, ascending; in the room given, unless it has all.
    static const uint8_t *numbers(uint32_t mask, uint8_t *room) {
        static constexpr auto ALL = [] {
            std::array<uint8_t, LANES> all{};
            for (int lane = 0; lane < LANES; lane++) all[lane] = lane;
            return all;
        }();
        if (mask == ALL_LANES) return ALL.data();
        for (uint8_t *next = room; mask; mask &= mask - 1) *next++ = __builtin_ctz(mask);
        return room;
    }

    // Whether each address is a step behind the one before.  There is no branch for each, since all
    // mostly are.
    static bool are_apart(const LaneRecord *records, int count, uint64_t step) {
        uint64_t due = records->address, differences = 0;
        for (int i = 0; i < count; i++, due += step) differences |= records[i].address ^ due;
        return !differences;
    }

    static bool are_equal(const uint32_t *slots, int count, uint32_t to) {
        uint32_t differences = 0;
        for (int i = 0; i < count; i++) differences |= slots[i] ^ to;
        return !differences;
    }

    // Divides the locations into groups.
    void divide(const LaneRecord *records, uint32_t mask) {
        groups_.clear();
        words_.clear();
        uint8_t room[LANES];
        const int count = __builtin_popcount(mask);
        const uint8_t *lanes = numbers(mask, room);
        for (int i = 0; i < count;) {
            uint64_t address = records[i].address;
            int end = i + 1;
            uint64_t step = 0;
            if (end < count) {
                uint64_t gap = lanes[end] - lanes[i], distance = records[end].address - address;
                step = gap == 1 ? distance : distance / gap;
                bool is_regular = step * gap == distance && step < 1u << 16 &&
                                  !(step & (step - 1)) && (!step || step >= size_);
                bool is_gapless = lanes[count - 1] - lanes[i] == count - 1 - i;
                if (is_regular && is_gapless && are_apart(records + i, count - i, step)) end = count;
                auto is_next = [&](int j) {
                    return records[j].address - address == step * (lanes[j] - lanes[i]);
                };
                while (is_regular && end < count && is_next(end)) end++;
            }
            if (end == i + 1 || !step) {
                uint32_t together = 0;
                for (int j = i; j < end; j++) together |= 1u << lanes[j];
                begin({LanesAt::BY_MASK, together});
                place(address, together);
            } else {
                begin(LanesAt::with_distance(__builtin_ctzll(step), lanes[i], address));
                if (step == size_ && size_ == 1u << shadow_.bits() &&
                    shadow_.has_page(address, records[end - 1].address)) {
                    uint32_t *slot = shadow_.at(now_->memory, address);
                    bool is_gapless = lanes[end - 1] - lanes[i] == end - 1 - i;
                    if (is_gapless) place_all({slot, address, 1u << lanes[i]}, end - i);
                    for (int j = i; !is_gapless && j < end; j++)
                        place(slot + (lanes[j] - lanes[i]), records[j].address, 1u << lanes[j]);
                } else {
                    for (int j = i; j < end; j++) place(records[j].address, 1u << lanes[j]);
                }
            }
            i = end;
        }
    }

    void begin(LanesAt at) {
        at_ = at;
        is_new_ = true;
    }

    void place(uint64_t address, uint32_t lanes) {
        uint32_t *slot = shadow_.at(now_->memory, address);
        int bits = shadow_.bits();
        for (unsigned i = 0; i < size_ >> bits; i++, slot++)
            place(slot, address + ((uint64_t)i << bits), lanes);
    }

    void place(uint32_t *slot, uint64_t address, uint32_t lanes) {
        if (is_new_ || groups_.back().past != *slot) {
            groups_.push_back({*slot, at_, (int)words_.size(), 0});
            is_new_ = false;
        }
        groups_.back().count++;
        words_.push_back({slot, address, lanes});
    }

    // Places of lanes side by side.
    void place_all(const Word &start, int count) {
        for (int first = 0; first < count;) {
            uint32_t *slot = start.slot + first;
            int same = are_equal(slot, count - first, *slot) ? count - first : 1;
            while (first + same < count && slot[same] == *slot) same++;
            uint64_t address = start.address + ((uint64_t)first << shadow_.bits());
            groups_.push_back({*slot, at_, 0, same, {slot, address, start.lanes << first}});
            first += same;
        }
    }

    // Lanes of a group that cannot be taken in.
    uint32_t check(Group &group) {
        uint32_t left = 0;
        if (!group.past) return left;
        if (group.past & IS_CELL) {
            Cell &cell = shadow_.cell(group.past);
            group.is_over = now_->is_of_block && cell.last <= block_time_;
            for (int i = 0; !group.is_over && i < group.count; i++) left |= word(group, i).lanes;
            return left;
        }
        History *history = shadow_.histories.at(group.past);
        group.is_over = now_->is_of_block && history->last().row <= block_time_;
        if (group.is_over) return left;
        for (int number = 0; number < history->count; number++) {
            const Entry &each = history->entries()[number];
            bool is_known = is_known_to_all(each, group.at);
            group.known |= is_known << number;
            if (is_known && each.kind == now_->kind &&
                places_.block_of_warp(each.warp) == now_->block)
                group.dropped |= 1u << number;
            if (is_known || each.row == now_->row) continue;
            bool conflicts = writes_ || kinds_[each.kind].writes;
            // Of reads only whether one can leave in favour of another.
            if (!conflicts && history->count < MOST_KEPT) continue;
            bool is_known_to_each = true;
            for (int i = 0; i < group.count; i++) {
                Word at = word(group, i);
                if (is_known_to(each, at)) continue;
                is_known_to_each = false;
                if (!conflicts) break;
                left |= at.lanes;
            }
            group.known |= is_known_to_each << number;
        }
        return left;
    }

    // Whether it is certain, without a look at each lane, that all lanes know an access.
    bool is_known_to_all(const Entry &each, const LanesAt &own) const {
        if (each.row <= block_time_ && places_.block_of_warp(each.warp) == now_->block)
            return true;
        LanesAt lanes = each.lanes_at();
        if (each.warp == now_->warp) {
            if (lanes.is_lane_of(own)) return true;
            if (places_.size == 1) {
                const Clock &clock = places_.actor(each.warp).clock;
                if (clock.mask == ALL_LANES) return true;
                uint32_t late = lanes.all() & ~clock.mask;
                for (; late; late &= late - 1)
                    if (clock.own(__builtin_ctz(late), 0) < each.row) break;
                if (!late) return true;
            }
        }
        if (!far_) return false;
        return places_.size > 1 ? far_->covers(each.warp, lanes.all(), each.row)
                                : far_->of(each.warp) >= each.row;
    }

    bool is_known_to(const Entry &each, const Word &word) {
        uint32_t earlier = each.lanes_at().at(word.address);
        for (uint32_t own = word.lanes; own; own &= own - 1)
            for (uint32_t left = earlier; left; left &= left - 1) {
                int lane = __builtin_ctz(own), other = __builtin_ctz(left);
                if (each.warp == now_->warp && lane == other) continue;
                bool is_thread = places_.size > 1;
                const Warp &actor =
                    places_.actor(is_thread ? now_->warp * LANES + lane : now_->warp);
                int warp = is_thread ? each.warp * LANES + other : each.warp;
                if (!actor.clock.knows(actor.place, warp, is_thread ? 0 : other, each.row,
                                       now_->row - 1))
                    return false;
            }
        return true;
    }

    // What accesses of the warp communicate.
    Ref<const Pasts> pasts(RunningWarp &warp) {
        if (warp.team.pasts) return warp.team.pasts;
        const Known common = sc_fences_.past(warp.actors[0].clock, warp.actors[0].place);
        std::vector<Known> lanes;
        for (size_t lane = 1; lane < warp.actors.size(); lane++) {
            const Warp &actor = warp.actors[lane];
            const Known &past = sc_fences_.past(actor.clock, actor.place);
            if (lanes.empty() && past == common) continue;
            lanes.resize(LANES, common);
            lanes[lane] = past;
        }
        // The warps of a block have the same ones behind a barrier.
        if (!last_pasts_ || last_pasts_->common != common || last_pasts_->lanes != lanes)
            last_pasts_ = Ref<const Pasts>(new Pasts(common, std::move(lanes)));
        return warp.team.pasts = last_pasts_;
    }

    // Adds the access to the locations of a group whose lanes are not left to others.
    void add(const Group &group, uint32_t left) {
        if (is_whole(group, left) && !is_here(group.past)) return add(group, 0, group.count);
        for (int i = 0; i < group.count; i++) {
            Word at = word(group, i);
            if (at.lanes & left) continue;
            if (*at.slot == group.past && !is_here(group.past)) add(group, i, 1);
            else merge(group, at);
        }
    }

    // Whether no lane is left to others, and no location has been given another past.
    bool is_whole(const Group &group, uint32_t left) const {
        if (group.start.slot)
            return !(group.lanes() & left) && are_equal(group.start.slot, group.count, group.past);
        for (int i = 0; i < group.count; i++) {
            const Word &at = words_[group.first + i];
            if (*at.slot != group.past || at.lanes & left) return false;
        }
        return true;
    }

    // Whether a past has an access of the same instruction.
    bool is_here(uint32_t past) {
        return past && !(past & IS_CELL) && shadow_.histories.at(past)->last().row == now_->row;
    }

    // Adds the access to some locations of a group, whose past they still have.
    void add(const Group &group, int from, int count) {
        Histories &histories = shadow_.histories;
        uint32_t past = group.past;
        if (past && group.is_over) {
            if (!(past & IS_CELL)) histories.leave(past, count);
            for (int i = from; past & IS_CELL && i < from + count; i++)
                shadow_.clear(*word(group, i).slot);
            past = 0;
        }
        History *history = past ? histories.at(past) : nullptr;
        uint32_t dropped = group.dropped;
        Time previous = history && writes_ ? previous_of(*history, dropped, group.at) : 0;
        int kept = history ? history->count - __builtin_popcount(dropped) : 0;
        bool is_cut = history && history->is_cut, is_unknown = history && history->is_unknown;
        Lost lost = history ? history->lost : Lost();
        if (!is_unknown && lost.may_race(writes_, now_->block, block_time_))
            is_unknown = true, unknown += count;
        if (kept == MOST_KEPT) {
            dropped |= 1u << superfluous(*history, group.known, lost);
            is_cut = true, kept--;
        }
        if (history && (int)history->users == count && kept < Histories::room(history)) {
            int next = 0;
            for (int i = 0; i < history->count; i++)
                if (!(dropped >> i & 1)) {
                    if (next != i) history->entries()[next] = std::move(history->entries()[i]);
                    next++;
                }
            if (next == history->count) new (&history->entries()[next]) Entry(entry(group.at, previous));
            else history->entries()[next] = entry(group.at, previous);
            for (int i = next + 1; i < history->count; i++) history->entries()[i].~Entry();
            history->count = next + 1;
            history->is_cut = is_cut, history->is_unknown = is_unknown, history->lost = lost;
            return;
        }
        uint32_t number = histories.make(kept + 1);
        History *made = histories.at(number);
        for (int i = 0; history && i < history->count; i++)
            if (!(dropped >> i & 1))
                new (&made->entries()[made->count++]) Entry(history->entries()[i]);
        new (&made->entries()[made->count++]) Entry(entry(group.at, previous));
        made->is_cut = is_cut, made->is_unknown = is_unknown, made->lost = lost;
        made->users = count;
        if (past) histories.leave(past, count);
        if (group.start.slot) std::fill_n(group.start.slot + from, count, number);
        for (int i = from; !group.start.slot && i < from + count; i++)
            *words_[group.first + i].slot = number;
    }

    Entry entry(const LanesAt &at, Time previous) const {
        return {now_->row, previous, now_->warp, now_->kind, at.unit, at.lanes, pasts_};
    }

    // Row of the last write of the same kind and threads.
    Time previous_of(History &history, uint32_t dropped, const LanesAt &at) const {
        for (; dropped; dropped &= dropped - 1) {
            const Entry &each = history.entries()[__builtin_ctz(dropped)];
            if (each.warp == now_->warp && each.unit == at.unit && each.lanes == at.lanes)
                return each.row;
        }
        return 0;
    }

    // Which of eight accesses counts least: the oldest behind which the access comes and with which
    // all conflicts that conflict with it; else the oldest of the block that has most, which is lost.
    int superfluous(History &history, uint32_t known, Lost &lost) const {
        const Entry *entries = history.entries();
        for (int i = 0; i < history.count; i++)
            if (known >> i & 1 && (writes_ || !kinds_[entries[i].kind].writes)) return i;
        int most = 0, chosen = 0;
        for (int i = 0; i < history.count; i++) {
            int block = places_.block_of_warp(entries[i].warp), same = 0;
            for (int j = 0; j < history.count; j++)
                same += places_.block_of_warp(entries[j].warp) == block;
            if (same > most) most = same, chosen = i;
        }
        const Entry &entry = entries[chosen];
        lost.add(entry.row, places_.block_of_warp(entry.warp), entry.kind,
                 kinds_[entry.kind].writes);
        return chosen;
    }

    // Adds further lanes of the instruction to a location that it has come to before.
    void merge(const Group &group, const Word &word) {
        Histories &histories = shadow_.histories;
        History *history = histories.at(*word.slot);
        if (history->users > 1) {
            uint32_t number = histories.make(history->count);
            History *made = histories.at(number);
            for (int i = 0; i < history->count; i++)
                new (&made->entries()[made->count++]) Entry(history->entries()[i]);
            made->is_cut = history->is_cut, made->is_unknown = history->is_unknown;
            made->lost = history->lost;
            made->users = 1;
            histories.leave(*word.slot, 1);
            *word.slot = number;
            history = made;
        }
        Entry &last = history->entries()[history->count - 1];
        last.lanes = last.lanes_at().at(word.address) | group.at.at(word.address);
        last.unit = LanesAt::BY_MASK;
    }

    Places &places_;
    Shadow &shadow_;
    const std::vector<Kind> &kinds_;
    ScFences &sc_fences_;
    // Of the access that is taken in.
    const Instruction *now_ = nullptr;
    Time block_time_ = 0;
    unsigned size_ = 0;
    bool writes_ = false, is_new_ = false;
    const Knowledge *far_ = nullptr;
    LanesAt at_{};
    Ref<const Pasts> pasts_, last_pasts_;
    std::vector<Group> groups_;
    std::vector<Word> words_;
};
