// Access buffer and tracker of one SM: from transactions to packets.
//
// The same as racetrap.golden_model.scord.access_buffer and .tracker.
#ifndef TRACKER_H
#define TRACKER_H

#include <algorithm>
#include <vector>

#include "settings.h"

// One code for both.
static_assert(int(PACKET_LOAD) == LOAD && int(PACKET_STORE) == STORE);
static_assert(int(PACKET_ATOMIC) == ATOMIC && int(PACKET_FENCE) == FENCE);

struct Transaction {
    uint32_t kind, scope, strong, op, slot, warp, pc, mask, lock_mask;
    uint64_t line;

    Transaction(const TransactionFields &at, const uint32_t *words)
        : kind(get(at.kind, words)), scope(get(at.scope, words)), strong(get(at.strong, words)),
          op(get(at.op, words)), slot(get(at.slot, words)), warp(get(at.warp, words)),
          pc(get(at.pc, words)), mask(get(at.mask, words)), lock_mask(get(at.lock_mask, words)),
          line(get(at.line, words)) {}
};

struct Packet {
    uint32_t kind, scope, strong, block, warp, barrier_id, filter, pc;
    uint64_t word;
    uint32_t generation;
};

// Bank of a word, as racetrap.golden_model.scord.interleaver.
inline uint32_t bank_of(const Settings &settings, uint64_t word) {
    uint64_t index = word >> (settings.granularity_bits - WORD_SHIFT);
    if (settings.odd_ports == 1) return index & (settings.banks - 1);
    uint32_t lanes = settings.words_per_cycle, low = settings.port_bits;
    uint64_t segment = index / lanes;
    uint64_t residue = segment >> low & ((uint64_t(1) << settings.residue_bits) - 1);
    uint64_t port = residue % settings.odd_ports << low | (segment & ((1u << low) - 1));
    return port * lanes + index % lanes;
}

// Mask of words reduced to granules: the lowest word of each stands for it.
inline uint32_t granule_mask(uint32_t mask, unsigned granularity_bits) {
    unsigned words = 1 << (granularity_bits - WORD_SHIFT);
    uint32_t lowest = ~uint32_t(0) / ((1u << words) - 1), granules = mask;
    for (unsigned distance = 1; distance < words; distance++) granules |= mask >> distance;
    return granules & lowest;
}

// The locks that one warp is taking or holds, newest first.
class LockTable {
public:
    void insert(uint32_t lock, uint32_t scope, size_t depth) {
        if (find(lock, scope) != entries_.end()) return;
        entries_.insert(entries_.begin(), {lock, scope == DEVICE ? PENDING_DEVICE : PENDING_BLOCK});
        if (entries_.size() > depth) entries_.pop_back();
    }
    void remove(uint32_t lock, uint32_t scope) {
        auto position = find(lock, scope);
        if (position != entries_.end()) entries_.erase(position);
    }
    void fence(uint32_t scope) {
        for (Entry &entry : entries_) entry.state = after_fence(entry.state, scope);
    }
    void clear() { entries_.clear(); }

    uint32_t filter(uint32_t block) const {
        uint32_t high = block / 7, low = block % 7, bits = 0;
        uint32_t mask = (1 + high % 7) << 3 | (1 + low);
        for (const Entry &entry : entries_) {
            if (entry.state >= HELD_BLOCK) bits |= filter_of_key(entry.lock ^ mask);
            if (entry.state == HELD_DEVICE) bits |= filter_of_key(entry.lock);
        }
        return bits;
    }

private:
    struct Entry {
        uint32_t lock;
        LockState state;
    };
    std::vector<Entry> entries_;

    static uint32_t filter_of_key(uint32_t key) { return 1u << (key & 7) | 1u << (8 + (key >> 3)); }
    static uint32_t cas_scope(LockState state) {
        return state == PENDING_BLOCK || state == HELD_BLOCK ? BLOCK : DEVICE;
    }
    static LockState after_fence(LockState state, uint32_t scope) {
        if (state == PENDING_BLOCK) return HELD_BLOCK;
        if (scope == DEVICE && (state == PENDING_DEVICE || state == HELD_BLOCK_BY_DEVICE))
            return HELD_DEVICE;
        return state == PENDING_DEVICE ? HELD_BLOCK_BY_DEVICE : state;
    }
    std::vector<Entry>::iterator find(uint32_t lock, uint32_t scope) {
        return std::find_if(entries_.begin(), entries_.end(), [=](const Entry &entry) {
            return entry.lock == lock && cas_scope(entry.state) == scope;
        });
    }
};

// Whether an access buffer leaves a transaction out, and how many accesses it has left out.
class AccessBuffer {
public:
    uint64_t left_out = 0;

    bool hands_on(const Settings &settings, const Transaction &each, bool is_full) {
        if (!leaves_out(settings, each, is_full)) return true;
        bool is_atomic = each.kind == ATOMIC;
        left_out += __builtin_popcount(
            is_atomic ? each.mask : granule_mask(each.mask, settings.granularity_bits));
        return false;
    }

private:
    static bool leaves_out(const Settings &settings, const Transaction &each, bool is_full) {
        bool is_plain = each.kind < ATOMIC || (each.kind == ATOMIC && !each.lock_mask);
        if (settings.policy == STALL || !is_plain) return false;
        if (settings.policy == DROP) return is_full;
        uint64_t parts = 0, part = (uint64_t(1) << settings.sample_log2) - 1;
        for (uint64_t line = each.line; line; line >>= settings.sample_log2) parts ^= line & part;
        return parts != 0;
    }
};

class Tracker {
public:
    Tracker(const Settings &settings, uint32_t sm)
        : settings_(settings), first_block_(sm << settings.slot_bits),
          barrier_ids_(size_t(1) << settings.slot_bits), generations_(barrier_ids_),
          lock_tables_(settings.warps_per_sm) {}

    // Calls `emit` with each packet, in the order in which they leave the SM.
    template <class Emit> void step(const Transaction &each, Emit emit) {
        if (each.kind == BARRIER) {
            uint32_t &id = barrier_ids_[each.slot];
            id = (id + 1) & ((1u << settings_.barrier_id_bits) - 1);
            return;
        }
        if (each.kind == BLOCK_START) {
            start(each);
            return;
        }
        uint32_t block = first_block_ | each.slot;
        LockTable &table = lock_tables_[each.warp];
        if (each.kind == FENCE) {
            table.fence(each.scope);
            emit(Packet{FENCE, each.scope, 0, block, each.warp, 0, 0, 0, 0, 0});
            return;
        }
        bool is_atomic = each.kind == ATOMIC;
        uint32_t mask = is_atomic ? each.mask : granule_mask(each.mask, settings_.granularity_bits);
        Packet packet{each.kind, each.scope, each.strong, block, each.warp,
                      barrier_ids_[each.slot], table.filter(block), each.pc, 0,
                      generations_[each.slot]};
        for (; mask; mask &= mask - 1) {
            unsigned offset = __builtin_ctz(mask);
            packet.word = each.line << LINE_SHIFT | offset;
            if (is_atomic) packet.filter = table.filter(block);
            emit(packet);
            if (!is_atomic || !(each.lock_mask >> offset & 1)) continue;
            // A word's lock update comes after its packet.
            if (each.op == CAS)
                table.insert(lock_hash(packet.word), each.scope, settings_.lock_table_depth);
            else if (each.op == EXCH)
                table.remove(lock_hash(packet.word), each.scope);
        }
    }

private:
    const Settings &settings_;
    uint32_t first_block_;
    std::vector<uint32_t> barrier_ids_, generations_;  // by block slot
    std::vector<LockTable> lock_tables_;

    // A block starts; one without a warp of the SM does nothing.
    void start(const Transaction &each) {
        uint64_t warps = uint64_t(each.lock_mask) << LINE_WORDS | each.mask;
        bool is_any = false;
        for (size_t warp = 0; warp < lock_tables_.size(); warp++) {
            if (!(warps >> warp & 1)) continue;
            lock_tables_[warp].clear();
            is_any = true;
        }
        uint32_t &generation = generations_[each.slot];
        generation = (generation + is_any) & ((1u << settings_.slot_generation_bits) - 1);
    }

    uint32_t lock_hash(uint64_t word) const {
        uint32_t hash = 0;
        for (; word; word &= word - 1) hash ^= settings_.lock_hash_columns[__builtin_ctzll(word)];
        return hash;
    }
};

#endif
