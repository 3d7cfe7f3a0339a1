// Shadow memory: what has been done to the locations that several threads touch and one writes.
// As cells.py in tests/support/ptx_oracle and shadow.py in golden_model/barracuda.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "patterns.h"
#include "trace.h"

// What decides whether an access conflicts with others, and is morally strong with them.
struct Kind {
    uint8_t size;
    bool is_strong, is_device, is_volatile, writes;
    uint32_t pc_number;  // of its instruction
};

// Accesses of one kind by the threads of one block to one cell.
class List {
public:
    List(uint32_t kind, int32_t block) : kind(kind), block(block) {}

    uint32_t kind;
    int32_t block;
    // Kind, and nearness, of accesses morally strong with these whose race has been found.
    uint64_t silent = ~(uint64_t)0;

    void add(const Access &access) {
        Entry entry{access.row, access.warp, access.lane};
        if (!many_) {
            if (!single_.row || single_.is_of_thread(entry)) {
                single_ = entry;
                return;
            }
            many_ = std::make_unique<Many>();
            many_->entries = {single_};
        }
        auto &entries = many_->entries;
        if (entries.back().is_of_thread(entry)) {
            entries.back() = entry;
            return;
        }
        entries.push_back(entry);
        if (entries.size() > many_->limit) many_->compact();
    }

    void add(Message *message) {
        if (!many_) many_ = std::make_unique<Many>();
        many_->messages.push_back(message);
        many_->latest[thread_of(message->access.warp, message->access.lane)] = message;
    }

    // The latest entry of another thread that is unordered with an access, if there is one.
    template <class IsKnown> bool unordered(const Access &access, IsKnown is_known, Access &found) {
        if (!many_) return is_unordered(single_, access, is_known, found);
        const auto &entries = many_->entries;
        Time &checked = many_->checked_by(access, 0, entries.size());
        for (size_t i = entries.size(); i-- && entries[i].row > checked;)
            if (is_unordered(entries[i], access, is_known, found)) return true;
        checked = access.row - 1;  // the instruction may have more lanes
        return false;
    }

    // The same of messages; of those that are morally strong with the access, the latest of each
    // thread stands for all before it.
    template <class IsOrdered>
    bool unordered_message(const Access &access, bool is_strong, IsOrdered is_ordered,
                           Access &found) {
        const auto &messages = many_->messages;
        Time &checked = many_->checked_by(access, is_strong, messages.size());
        for (size_t i = messages.size(); i-- && messages[i]->access.row > checked;) {
            const Access &earlier = messages[i]->access;
            if (earlier.row == access.row || earlier.is_of_thread(access)) continue;
            uint64_t thread = thread_of(earlier.warp, earlier.lane);
            if (is_strong && many_->latest.at(thread) != messages[i]) continue;
            if (is_ordered(messages[i])) continue;
            found = earlier;
            return true;
        }
        checked = access.row - 1;
        return false;
    }

private:
    struct Entry {
        Time row;
        int32_t warp;
        uint8_t lane;

        bool is_of_thread(const Entry &other) const {
            return warp == other.warp && lane == other.lane;
        }
    };

    static uint64_t thread_of(int warp, int lane) { return (uint64_t)warp * LANES + lane; }

    struct Many {
        std::vector<Entry> entries;  // ascending; of a thread the last counts
        size_t limit = LANES;
        std::vector<Message *> messages;
        std::unordered_map<uint64_t, Message *> latest;  // by thread
        // By thread the row up to which all is in its past, entries or all messages, and the
        // messages that are morally strong with it.
        std::unordered_map<uint64_t, std::array<Time, 2>> checked;
        Time unchecked = 0;

        Time &checked_by(const Access &access, bool is_strong, size_t count) {
            if (count < LANES) return unchecked = 0;
            return checked[thread_of(access.warp, access.lane)][is_strong];
        }

        void compact() {
            std::unordered_set<uint64_t> seen;
            std::vector<Entry> kept;
            for (size_t i = entries.size(); i--;)
                if (seen.insert(thread_of(entries[i].warp, entries[i].lane)).second)
                    kept.push_back(entries[i]);
            entries.assign(kept.rbegin(), kept.rend());
            limit = 2 * entries.size() + LANES;
        }
    };

    template <class IsKnown>
    bool is_unordered(const Entry &entry, const Access &access, IsKnown is_known, Access &found) {
        if (entry.row == access.row) return false;
        if (entry.warp == access.warp && entry.lane == access.lane) return false;
        if (is_known(entry.warp, entry.lane, entry.row)) return false;
        found = {entry.row, entry.warp, 0, entry.lane};
        return true;
    }

    Entry single_{};
    std::unique_ptr<Many> many_;
};

// What precedes later accesses of a cell in communication order.
struct Communication {
    bool is_written = false;
    // The last write, what it communicates, and what the writes do that precede it, with it.
    Access last{};
    uint32_t kind = 0;
    int block = 0;
    Known past, preceding;
    // Reads of the initial value, of the last write, and of older values than that.
    Known first_readers, readers, overtaken;
};

struct Cell {
    Message *message = nullptr;  // of its last write, if others may observe it
    std::vector<List> lists;
    bool has_atomics = false;

    // Whether others may observe an access: a weak write through an atomic of its own thread.
    bool is_observable(const Kind &kind) const {
        return kind.writes && (kind.is_strong || has_atomics);
    }

    bool is_communicated() const { return (bool)communication_; }

    Communication &communication() {
        if (!communication_) communication_ = std::make_unique<Communication>();
        return *communication_;
    }

    List &list(uint32_t kind, int32_t block) {
        for (List &each : lists)
            if (each.kind == kind && each.block == block) return each;
        return lists.emplace_back(kind, block);
    }

private:
    std::unique_ptr<Communication> communication_;
};

// Cells by address.
class Shadow {
public:
    explicit Shadow(int cell_bits) : cell_bits_(cell_bits) {}

    // Records accesses to all bytes of a location.
    void touch(uint64_t memory, uint64_t address, unsigned size, uint32_t actor, bool writes,
               bool is_atomic) {
        uint32_t *place = at(memory, address);
        for (unsigned i = 0; i < size >> cell_bits_; i++) {
            uint32_t &state = place[i];
            if (!(state & ACTOR)) state |= actor + 1;
            else if ((state & ACTOR) != actor + 1) state |= SEVERAL;
            if (writes) state |= WRITTEN;
            if (is_atomic) state |= ATOMIC_THERE;
        }
    }

    // Makes cells of the locations that can be raced over.
    void settle() {
        auto is_cell = [](uint32_t state) { return state & SEVERAL && state & WRITTEN; };
        uint32_t count = 1;
        for (const auto &[number, page] : pages_)
            count += std::count_if(page.begin(), page.end(), is_cell);
        cells_.resize(count);
        uint32_t cell = 1;
        for (auto &[number, page] : pages_)
            for (uint32_t &state : page) {
                if (is_cell(state)) cells_[cell].has_atomics = state & ATOMIC_THERE;
                state = is_cell(state) ? cell++ : 0;
            }
    }

    // Cells of a location.
    void cells(uint64_t memory, uint64_t address, unsigned size, std::vector<Cell *> &found) {
        found.clear();
        const uint32_t *place = at(memory, address);
        for (unsigned i = 0; i < size >> cell_bits_; i++)
            if (place[i]) found.push_back(&cells_[place[i]]);
    }

private:
    static constexpr int PAGE_BITS = 12;
    static constexpr uint32_t SEVERAL = 1u << 31, WRITTEN = 1u << 30, ATOMIC_THERE = 1u << 29,
                              ACTOR = ATOMIC_THERE - 1;

    uint32_t *at(uint64_t memory, uint64_t address) {
        // Shared memories are small.
        uint64_t number = address >> PAGE_BITS;
        if (memory) number |= 1ull << 63 | memory << PAGE_BITS;
        if (number != last_number_ || !last_) {
            auto &page = pages_[number];
            if (page.empty()) page.resize((1 << PAGE_BITS) >> cell_bits_);
            last_number_ = number;
            last_ = page.data();
        }
        return last_ + ((address & ((1 << PAGE_BITS) - 1)) >> cell_bits_);
    }

    int cell_bits_;
    std::unordered_map<uint64_t, std::vector<uint32_t>> pages_;
    uint64_t last_number_ = 0;
    uint32_t *last_ = nullptr;
    std::vector<Cell> cells_;
};
