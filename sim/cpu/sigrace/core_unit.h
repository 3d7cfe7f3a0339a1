// Core unit in Normal mode, as CoreUnit of racetrap.golden_model.sigrace.core_unit, and the blocks
// that it ends.
#ifndef CORE_UNIT_H
#define CORE_UNIT_H

#include <algorithm>

#include "../sync_objects.h"
#include "address_ring.h"
#include "signature.h"

// A finished block as the RDM sees it.
struct Summary {
    uint32_t thread;
    Cause cause;
    bool reads, writes;
    Clock timestamp;
    Words read, write;
    uint64_t message_bits;
    uint32_t unit;      // that has sent it
    uint32_t sequence;  // number of the block among those of its unit
    // Of a run that is measured: granules read and written, ascending; instructions of the thread
    // from the checkpoint to the block's end.
    std::vector<uint32_t> granules[2];
    uint64_t committed;
};

// LSB values and USB values of a block, in form `sets`.
struct AddressSet {
    Words bitmap;
    std::vector<uint32_t> usb;
};

// A bit for each byte of a granule (byte address) that lies from an address to an end.
inline uint32_t bytes_used(uint64_t granule, uint64_t address, uint64_t end) {
    uint32_t low = std::max(address, granule) - granule;
    uint32_t high = std::min<uint64_t>(end - granule, 1 << GRANULE_LOG2);
    return (1u << high) - (1u << low);
}

class CoreUnit {
public:
    bool is_collecting = false;
    uint32_t thread = 0;
    uint32_t place = 0;           // number of the unit
    AddressRing *ring = nullptr;  // where the accesses of its blocks are kept, if they are
    Cause cause = NONE;  // of the latest block that ended, sent or empty

    CoreUnit(const Settings &settings, const SignatureHash &hash) : settings_(&settings), hash_(&hash) {
        lsb_bits_ = settings.lsb_bits - GRANULE_LOG2;
        lsb_values_ = 1u << lsb_bits_;
        for (Words &signature : signatures_) signature.resize(hash.words());
        if (!settings.is_hashed)
            for (AddressSet &set : sets_) set.bitmap.resize((lsb_values_ + 63) / 64);
    }

    // Instructions of an event that does not end a block by its own.
    void commit(uint32_t instructions) {
        if (is_collecting) count(instructions);
    }

    // An access, or instructions without one (size 0); `clock` is the thread's timestamp.
    void take(uint32_t address, uint32_t size, bool is_write, uint32_t instructions,
              const Clock &clock, std::vector<Summary> &ended) {
        if (!is_collecting) return;
        count(instructions);
        if (size) {
            uint64_t end = (uint64_t)address + size, last = (end - 1) >> GRANULE_LOG2;
            for (uint64_t granule = address >> GRANULE_LOG2; granule <= last; granule++) {
                insert(granule & GRANULES_MASK, is_write, clock, ended);
                if (!ring) continue;
                uint64_t low = granule << GRANULE_LOG2;
                ring->record(low, bytes_used(low, address, end), is_write);
            }
        }
        if (counter_ >= settings_->block_instructions) end(LIMIT, clock, ended);
    }

    // Instructions, and USB values of reads or writes, in the block so far.
    uint32_t counter() const { return counter_; }
    uint32_t values(bool is_write) const { return sets_[is_write].usb.size(); }

    // Ends the block; an empty one is not sent.
    void end(Cause why, const Clock &clock, std::vector<Summary> &ended) {
        cause = why;
        counter_ = 0;
        if (!used_[0] && !used_[1]) return;
        Summary &summary = ended.emplace_back();
        summary.thread = thread;
        summary.unit = place;
        summary.sequence = sent_++;
        if (ring) ring->end();
        summary.cause = cause;
        summary.reads = used_[0];
        summary.writes = used_[1];
        summary.timestamp = clock;
        summary.message_bits = settings_->message_bits;
        finish(0, summary.read, summary.message_bits);
        finish(1, summary.write, summary.message_bits);
        for (bool is_write : {false, true}) {
            std::vector<uint32_t> &granules = granules_[is_write];
            std::sort(granules.begin(), granules.end());
            granules.erase(std::unique(granules.begin(), granules.end()), granules.end());
            summary.granules[is_write].swap(granules);
        }
    }

private:
    static constexpr uint32_t GRANULES_MASK = (1u << (ADDRESS_BITS - GRANULE_LOG2)) - 1;
    const Settings *settings_;
    const SignatureHash *hash_;
    uint32_t lsb_bits_, lsb_values_, counter_ = 0, sent_ = 0;
    bool used_[2] = {};
    AddressSet sets_[2];  // of reads and of writes
    Words signatures_[2];
    std::vector<uint32_t> granules_[2];

    void count(uint32_t instructions) {
        counter_ = std::min<uint64_t>(counter_ + instructions, settings_->max_count);
    }

    void insert(uint32_t granule, bool is_write, const Clock &clock, std::vector<Summary> &ended) {
        uint32_t lsb = granule & (lsb_values_ - 1), usb = granule >> lsb_bits_;
        if (settings_->is_hashed) {
            hash_->insert_lsb(signatures_[is_write], lsb);
            hash_->insert_usb(signatures_[is_write], usb);
        } else {
            AddressSet &set = sets_[is_write];
            if (std::find(set.usb.rbegin(), set.usb.rend(), usb) == set.usb.rend()) {
                if (set.usb.size() == settings_->usb_limit) end(FULL, clock, ended);
                set.usb.push_back(usb);
            }
            set_bit(set.bitmap, lsb);
        }
        used_[is_write] = true;
        if (settings_->is_measured) granules_[is_write].push_back(granule);
    }

    // Gives the signature of a set and adds the bits of its compressed form; begins a new one.
    void finish(bool is_write, Words &signature, uint64_t &bits) {
        bits++;
        signature.assign(hash_->words(), 0);
        if (!used_[is_write]) return;
        used_[is_write] = false;
        if (settings_->is_hashed) {
            std::swap(signature, signatures_[is_write]);
            bits += hash_->message_bits(signature);
            return;
        }
        AddressSet &set = sets_[is_write];
        for (size_t word = 0; word < set.bitmap.size(); word++)
            for (uint64_t rest = set.bitmap[word]; rest; rest &= rest - 1)
                hash_->insert_lsb(signature, 64 * word + std::countr_zero(rest));
        for (uint32_t usb : set.usb) hash_->insert_usb(signature, usb);
        bits += 1 + run_bits(set.bitmap) + settings_->usb_count_bits;
        bits += set.usb.size() * (ADDRESS_BITS - settings_->lsb_bits);
        std::fill(set.bitmap.begin(), set.bitmap.end(), 0);
        set.usb.clear();
    }

    // Bits of the lengths of alternating runs, in Elias gamma code.
    uint64_t run_bits(const Words &bitmap) const {
        uint64_t total = 0, value = -(bitmap[0] & 1);
        for (uint32_t start = 0, at = 0; start < lsb_values_; start = at, value = ~value) {
            // The run ends at the first bit of the other value, or with the bitmap.
            while (at < lsb_values_) {
                uint64_t other = (bitmap[at >> 6] ^ value) >> (at & 63);
                if (other) {
                    at += std::countr_zero(other);
                    break;
                }
                at = (at | 63) + 1;
            }
            at = std::min(at, lsb_values_);
            total += 2 * std::bit_width(at - start) - 1;
        }
        return total;
    }
};

#endif
