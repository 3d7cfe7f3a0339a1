// Cells: what has been done to a location that takes part in synchronisation or has raced.
// As cells.py in tests/support/ptx_oracle.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "patterns.h"

//: Accesses of one kind and block that a cell keeps, writes that others may observe, and lists.
constexpr size_t MOST_ENTRIES = 64, MOST_MESSAGES = 16, MOST_LISTS = 64;

// Accesses of one kind by the threads of one block to one cell.
class List {
public:
    List(uint32_t kind, int32_t block, bool writes) : kind(kind), block(block), writes(writes) {}

    uint32_t kind;
    int32_t block;
    bool writes;
    // Kind, and nearness, of accesses morally strong with these whose race has been found.
    uint64_t silent = ~(uint64_t)0;
    bool is_cut = false;  // whether it has had more than it keeps
    // What is lost: all, and that for which no atomic stands that has observed it.
    Lost lost, unobserved;
    Time covered = 0;  // up to where all is in the past of a later access of the list

    // Loses a write.  What is ordered behind the last of a chain of atomics is ordered behind all.
    void lose(const Message &message) {
        if (message.access.row <= covered) return;
        lost.add(message.access.row, block, kind, true);
        if (!message.successor) unobserved.add(message.access.row, block, kind, true);
    }

    void lose(Time row) {
        if (row <= covered) return;
        lost.add(row, block, kind, writes);
        unobserved.add(row, block, kind, writes);
    }

    // Loses all.
    void lose() {
        if (single_.row && !many_) lose(single_.row);
        if (!many_) return;
        for (const Entry &each : many_->entries) lose(each.row);
        for (const Sent &each : many_->messages) lose(*each.message);
    }

    void add(const Access &access) {
        Entry entry{access.row, 0, access.warp, access.lane, access.event};
        if (!many_) {
            if (!single_.row || single_.is_of_thread(entry)) {
                single_.replace(entry);
                return;
            }
            many_ = std::make_unique<Many>();
            many_->entries = {single_};
        }
        auto &entries = many_->entries;
        if (entries.back().is_of_thread(entry)) {
            entries.back().replace(entry);
            return;
        }
        entries.push_back(entry);
        if (entries.size() > many_->limit) is_cut |= many_->compact(*this);
    }

    void add(const MessageRef &message) {
        if (!many_) many_ = std::make_unique<Many>();
        auto &messages = many_->messages;
        auto last = last_of_thread(messages, *message);
        if (last != messages.rend()) last->is_last = false;
        messages.push_back({message});
        if (messages.size() > LANES) is_cut |= many_->compact_messages(*this);
    }

    List copy() const {
        List made(kind, block, writes);
        made.lost = lost, made.unobserved = unobserved, made.covered = covered;
        made.silent = silent, made.is_cut = is_cut, made.single_ = single_;
        if (many_) made.many_ = std::make_unique<Many>(*many_);
        return made;
    }

    // Row of its last access.
    Time last() const {
        if (!many_) return single_.row;
        Time row = many_->entries.empty() ? 0 : many_->entries.back().row;
        return many_->messages.empty() ? row : std::max(row, many_->messages.back().message->access.row);
    }

    // Calls with each access that others cannot observe, and with the one of its thread before it,
    // in the order of the run, and forgets them.
    template <class Visit> void take_entries(Visit visit) {
        std::vector<Entry> entries;
        if (many_) entries.swap(many_->entries);
        else if (single_.row) entries = {single_};
        single_ = Entry();
        for (size_t i = entries.size(); i--;)
            if (Time row = entries[i].previous) {
                entries.push_back(entries[i]);
                entries.back().row = row;
            }
        auto is_earlier = [](const Entry &one, const Entry &other) { return one.row < other.row; };
        std::stable_sort(entries.begin(), entries.end(), is_earlier);
        for (const Entry &each : entries)
            visit(Access{each.row, each.warp, 0, each.lane, each.event});
    }

    // The last access; of those of one row any.
    Access latest() const {
        if (many_ && !many_->messages.empty() &&
            many_->messages.back().message->access.row == last())
            return many_->messages.back().message->access;
        const Entry &entry = many_ ? many_->entries.back() : single_;
        return {entry.row, entry.warp, 0, entry.lane, entry.event};
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
        if (!many_) return false;
        const auto &messages = many_->messages;
        Time &checked = many_->checked_by(access, is_strong, messages.size());
        for (size_t i = messages.size(); i-- && messages[i].message->access.row > checked;) {
            const Access &earlier = messages[i].message->access;
            if (earlier.row == access.row || earlier.is_of_thread(access)) continue;
            if (is_strong && !messages[i].is_last) continue;
            if (is_ordered(messages[i].message.get())) continue;
            found = earlier;
            return true;
        }
        checked = access.row - 1;
        return false;
    }

private:
    struct Entry {
        Time row, previous;  // of its thread the one before it, or 0
        int32_t warp;
        uint8_t lane, event;

        void replace(const Entry &later) {
            Time own = row;
            *this = later;
            previous = own;
        }

        bool is_of_thread(const Entry &other) const {
            return warp == other.warp && lane == other.lane;
        }
    };

    // A write that others may observe, and whether its thread has no later one here.
    struct Sent {
        MessageRef message;
        bool is_last = true;
    };

    // The one that was put in last of those of a message's thread.
    static std::vector<Sent>::reverse_iterator last_of_thread(std::vector<Sent> &sent,
                                                              const Message &message) {
        return std::ranges::find_if(sent.rbegin(), sent.rend(), [&](const Sent &each) {
            return each.message->access.is_of_thread(message.access);
        });
    }

    static uint64_t thread_of(int warp, int lane) { return (uint64_t)warp * LANES + lane; }

    struct Many {
        std::vector<Entry> entries;  // ascending; of a thread the last counts
        size_t limit = LANES;
        std::vector<Sent> messages;
        // By thread the row up to which all is in its past, entries or all messages, and the
        // messages that are morally strong with it.
        std::unordered_map<uint64_t, std::array<Time, 2>> checked;
        Time unchecked = 0;

        Time &checked_by(const Access &access, bool is_strong, size_t count) {
            if (count < LANES / 2) return unchecked = 0;
            if (checked.size() > MOST_MARKS) checked.clear();
            return checked[thread_of(access.warp, access.lane)][is_strong];
        }

        // Both: whether they leave out what counts.
        bool compact(List &list) {
            std::unordered_map<uint64_t, size_t> seen;  // place of what is kept of a thread
            std::vector<Entry> kept;
            bool is_cut = false;
            for (size_t i = entries.size(); i--;) {
                uint64_t thread = thread_of(entries[i].warp, entries[i].lane);
                auto [place, is_new] = seen.try_emplace(thread, kept.size());
                if (!is_new) {
                    if (place->second < kept.size()) {
                        Time &previous = kept[place->second].previous;
                        previous = std::max(previous, entries[i].row);
                    }
                } else if (kept.size() < MOST_ENTRIES) {
                    kept.push_back(entries[i]);
                } else {
                    list.lose(entries[i].row);
                    is_cut = true;
                }
            }
            entries.assign(kept.rbegin(), kept.rend());
            limit = 2 * entries.size() + LANES;
            return is_cut;
        }

        // Of a thread one that nobody has observed stands for all before it, but not the last.
        bool compact_messages(List &list) {
            std::vector<Sent> kept;
            bool is_cut = false;
            for (size_t i = messages.size(); i--;) {
                const Message &message = *messages[i].message;
                auto later = last_of_thread(kept, message);
                if (later != kept.rend() && !later->is_last && later->message->observers.empty())
                    continue;
                if (kept.size() == MOST_MESSAGES) {
                    list.lose(message);
                    is_cut = true;
                    continue;
                }
                kept.push_back(messages[i]);
            }
            messages.assign(kept.rbegin(), kept.rend());
            kept.clear();
            for (const Sent &each : messages) each.message->shorten();
            return is_cut;
        }

        static constexpr size_t MOST_MARKS = 1024;
    };

    template <class IsKnown>
    bool is_unordered(const Entry &entry, const Access &access, IsKnown is_known, Access &found) {
        if (!entry.row || entry.row == access.row) return false;
        if (entry.warp == access.warp && entry.lane == access.lane) return false;
        if (is_known(entry.warp, entry.lane, entry.row)) return false;
        found = {entry.row, entry.warp, 0, entry.lane, entry.event};
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

    // Takes in an access in whose past all before it are.
    void add(const Access &access, uint32_t number, int of_block, bool writes, const Known &now,
             Joins &joins) {
        if (!writes) {
            readers = joins.join(readers, now);
            return;
        }
        if (is_written) overtaken = joins.join(overtaken, readers);
        else overtaken = first_readers = readers;
        readers = Known();
        is_written = true;
        last = access, kind = number, block = of_block;
        past = now, preceding = joins.join(preceding, now);
    }
};

struct Cell {
    MessageRef message;  // of its last write, if others may observe it
    std::vector<List> lists;
    Time last = 0;  // row of its last access
    bool has_atomics = false, is_cut = false;
    // Weak accesses that are lost, lists that are, one of each kind, and whether an access has come
    // that may race with any of them.
    Lost lost;
    std::vector<List> lost_lists;
    bool is_unknown = false;

    // Whether others may observe an access: a weak write through an atomic of its own thread.
    bool is_observable(const Kind &kind) const {
        return kind.writes && (kind.is_strong || has_atomics);
    }

    bool is_communicated() const { return (bool)communication_; }

    // Accesses before the first fence.sc communicate nothing, but the last write counts.
    Communication &communication(const std::vector<Kind> &kinds) {
        if (communication_) return *communication_;
        communication_ = std::make_unique<Communication>();
        for (const List &each : lists)
            if (kinds[each.kind].writes && each.last() > communication_->last.row) {
                communication_->is_written = true;
                communication_->last = each.latest();
                communication_->kind = each.kind;
                communication_->block = each.block;
            }
        return *communication_;
    }

    Cell copy() const {
        Cell made;
        made.message = message, made.last = last, made.lists.reserve(lists.size());
        made.has_atomics = has_atomics, made.is_cut = is_cut;
        made.lost = lost, made.is_unknown = is_unknown;
        for (const List &each : lists) made.lists.push_back(each.copy());
        for (const List &each : lost_lists) made.lost_lists.push_back(each.copy());
        if (communication_) made.communication_ = std::make_unique<Communication>(*communication_);
        return made;
    }

    void communicate(std::unique_ptr<Communication> made) { communication_ = std::move(made); }

    List &list(uint32_t kind, int32_t block, bool writes) {
        for (List &each : lists)
            if (each.kind == kind && each.block == block) return each;
        if (lists.size() == MOST_LISTS) {
            auto oldest = std::min_element(
                lists.begin(), lists.end(),
                [](const List &one, const List &other) { return one.last() < other.last(); });
            lose(*oldest);
            lists.erase(oldest);
            is_cut = true;
        }
        return lists.emplace_back(kind, block, writes);
    }

private:
    void lose(List &list) {
        list.lose();
        auto is_alike = [&](const List &each) { return each.kind == list.kind; };
        auto place = std::find_if(lost_lists.begin(), lost_lists.end(), is_alike);
        if (place == lost_lists.end())
            place = lost_lists.insert(place, List(list.kind, list.block, list.writes));
        place->lost.add(list.lost);
        place->unobserved.add(list.unobserved);
    }

    std::unique_ptr<Communication> communication_;
};
