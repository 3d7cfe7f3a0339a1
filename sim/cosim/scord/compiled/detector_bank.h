// Metadata of a launch, and the detector banks that check packets against them.
//
// The same as racetrap.golden_model.scord.detector_bank, .detection_logic and .fence_file.
#ifndef DETECTOR_BANK_H
#define DETECTOR_BANK_H

#include <array>
#include <memory>
#include <unordered_map>

#include "tracker.h"

constexpr uint64_t SHARED = DEV_SHARED | BLK_SHARED;
constexpr uint64_t FILTER_PART = FILTER_MASK >> FILTER_PART_BITS;

// Whether one of the two parts of a lock filter is empty.
inline bool is_empty(uint64_t filter) { return !(filter & FILTER_PART) || !(filter >> FILTER_PART_BITS); }

// Entries by index, in pages that come into being with their first access.
class Metadata {
public:
    uint64_t &at(uint64_t index) {
        if (!latest_ || index >> PAGE_LOG2 != number_) {
            auto &page = pages_[number_ = index >> PAGE_LOG2];
            if (!page) {
                page = std::make_unique<Page>();
                page->fill(UNINITIALISED_ENTRY);
            }
            latest_ = page.get();
        }
        return (*latest_)[index & (PAGE - 1)];
    }
    uint64_t look_up(uint64_t index) const {
        auto page = pages_.find(index >> PAGE_LOG2);
        return page == pages_.end() ? UNINITIALISED_ENTRY : (*page->second)[index & (PAGE - 1)];
    }
    // Calls `see` with the index of each entry in its state after an access, in no order.
    template <class See> void for_each(See see) const {
        for (auto &[number, page] : pages_)
            for (size_t place = 0; place < PAGE; place++)
                if ((*page)[place] != UNINITIALISED_ENTRY) see(number << PAGE_LOG2 | place);
    }

private:
    static constexpr unsigned PAGE_LOG2 = 9;
    static constexpr size_t PAGE = size_t(1) << PAGE_LOG2;
    using Page = std::array<uint64_t, PAGE>;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    uint64_t number_ = 0;
    Page *latest_ = nullptr;  // that of `number_`: neighbours are often accessed together
};

struct Step {
    uint32_t row, preliminary, race, tag_conflict, read_error;
    uint32_t owner_blk, owner_dev, own_blk, own_dev;
    uint64_t before, after;
};

// Row taken, preliminary check that held, race found, entry left behind.
struct Decision {
    uint32_t row, preliminary, race;
    uint64_t after;
};

// An access and what its entry says of it, as far as both decision tables ask.
struct Access {
    uint64_t take, entry, locks;
    bool strong, own_warp, same_block, blk_fenced, dev_fenced;
};

// Rows of LOAD_TABLE from LOAD_UNFENCED_WRITE on.
inline Decision decide_load(const Access &a) {
    uint64_t take = a.take, entry = a.entry, entry_locks = entry & FILTER_MASK;
    bool modified = entry & MODIFIED;
    if (modified && !a.own_warp) {
        if (a.same_block ? !a.blk_fenced && !a.dev_fenced : !a.dev_fenced)
            return {LOAD_UNFENCED_WRITE, NONE,
                    a.same_block ? MISSING_BLOCK_FENCE : MISSING_DEVICE_FENCE, take};
        if (!a.strong || !(entry & STRONG)) return {LOAD_UNFENCED_WRITE, NONE, NOT_STRONG, take};
    }
    bool entry_empty = is_empty(entry_locks), own_empty = is_empty(a.locks);
    uint64_t device_shared = (entry & ~BLK_SHARED) | DEV_SHARED;
    if (entry_empty && own_empty) {
        if (modified) {
            if (a.own_warp) take |= MODIFIED;
            return {LOAD_FENCED_WRITE, NONE, NO_RACE, take & (entry | ~STRONG)};
        }
        bool in_block = a.same_block && !(entry & DEV_SHARED);
        return {LOAD_AFTER_READ, NONE, NO_RACE, in_block ? entry | BLK_SHARED : device_shared};
    }
    if (modified && is_empty(entry_locks & a.locks))
        return {LOAD_NO_COMMON_LOCK, NONE, MISSING_LOCK, take};
    if (entry_empty) entry = (entry & ~FILTER_MASK) | a.locks;
    else if (!own_empty) entry &= ~FILTER_MASK | a.locks;
    if (!a.same_block) entry = (entry & ~BLK_SHARED) | DEV_SHARED;
    else if (!a.own_warp && !(entry & DEV_SHARED)) entry |= BLK_SHARED;
    return {LOAD_LOCKED, NONE, NO_RACE, entry};
}

// Rows of STORE_TABLE from STORE_BOTH_ATOMIC on.
inline Decision decide_store(const Access &a) {
    uint64_t take = a.take, entry = a.entry, entry_locks = entry & FILTER_MASK;
    if (entry & take & IS_ATOM) {
        constexpr uint64_t kept = SHARED | FILTER_MASK;
        return {STORE_BOTH_ATOMIC, NONE, NO_RACE, (take & ~kept) | (entry & kept)};
    }
    if (!a.dev_fenced) {
        if (!a.same_block) return {STORE_UNFENCED_ACCESS, NONE, MISSING_DEVICE_FENCE, take};
        if (!a.blk_fenced || entry & DEV_SHARED)
            return {STORE_UNFENCED_ACCESS, NONE, MISSING_BLOCK_FENCE, take};
    }
    if (!a.strong || !(entry & STRONG)) return {STORE_NOT_STRONG, NONE, NOT_STRONG, take};
    if (is_empty(entry_locks) && is_empty(a.locks))
        return {STORE_FENCED_ACCESS, NONE, NO_RACE, take};
    if (is_empty(entry_locks & a.locks)) return {STORE_NO_COMMON_LOCK, NONE, MISSING_LOCK, take};
    return {STORE_LOCKED, NONE, NO_RACE, take & (entry | ~FILTER_MASK)};
}

class DetectorBank {
public:
    DetectorBank(const Settings &settings, const std::vector<Region> &regions, Metadata &metadata)
        : settings_(settings), regions_(regions), metadata_(metadata),
          blk_(size_t(1) << (settings.entry.block.width - settings.slot_bits + settings.warp_bits)),
          dev_(blk_) {}

    Step step(const Packet &packet, bool read_error) {
        if (packet.kind == FENCE) return fence(packet);
        uint64_t index, tag;
        if (!locate(packet.word << WORD_SHIFT, index, tag))
            return {UNMONITORED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        const EntryFields &at = settings_.entry;
        uint64_t &place = metadata_.at(index), entry = read_error ? 0 : place;
        bool is_uninitialised = read_error || (entry & UNINITIALISED_ENTRY) == UNINITIALISED_ENTRY;
        bool tag_conflict = !is_uninitialised && part(entry, at.tag) != tag;
        is_uninitialised |= tag_conflict;
        size_t owner = slot(part(entry, at.block), part(entry, at.warp));
        size_t accessor = slot(packet.block, packet.warp);
        Step step{0, 0, 0, tag_conflict, read_error, blk_[owner], dev_[owner], blk_[accessor],
                  dev_[accessor], entry, 0};
        Decision decision = decide(packet, step, is_uninitialised, tag);
        step.row = decision.row;
        step.preliminary = decision.preliminary;
        step.race = decision.race;
        step.after = place = decision.after;
        return step;
    }

    // Index of the entry of a monitored address, and its tag.
    bool locate(uint64_t address, uint64_t &index, uint64_t &tag) const {
        for (const Region &region : regions_) {
            if (address < region.data_base || address >= region.end) continue;
            uint64_t granule = (address >> settings_.granularity_bits) - region.frame;
            tag = granule / region.entries;
            index = region.first_index + granule % region.entries;
            return true;
        }
        return false;
    }

private:
    const Settings &settings_;
    const std::vector<Region> &regions_;
    Metadata &metadata_;
    std::vector<uint32_t> blk_, dev_;  // by warp slot of the GPU

    static uint64_t part(uint64_t entry, const Field &at) {
        return at.width ? entry >> at.offset & ((uint64_t(1) << at.width) - 1) : 0;
    }

    size_t slot(uint64_t block, uint64_t warp) const {
        return block >> settings_.slot_bits << settings_.warp_bits | warp;
    }

    Step fence(const Packet &packet) {
        size_t warp = slot(packet.block, packet.warp);
        uint32_t &counter = (packet.scope == DEVICE ? dev_ : blk_)[warp];
        counter = (counter + 1) & ((1u << settings_.fence_id_bits) - 1);
        return {FENCE_ROW, 0, 0, 0, 0, 0, 0, blk_[warp], dev_[warp], 0, 0};
    }

    Decision decide(const Packet &packet, const Step &step, bool is_uninitialised,
                    uint64_t tag) const {
        const EntryFields &at = settings_.entry;
        uint64_t entry = step.before;
        uint64_t take = packet.filter | packet.strong * STRONG |
                        packet.scope * SCOPE |
                        uint64_t(packet.barrier_id) << at.barrier_id.offset |
                        uint64_t(step.own_blk) << at.blk_fence_id.offset |
                        uint64_t(step.own_dev) << at.dev_fence_id.offset |
                        uint64_t(packet.warp) << at.warp.offset |
                        uint64_t(packet.block) << at.block.offset |
                        (tag ? tag << at.tag.offset : 0) |
                        (packet.generation ? uint64_t(packet.generation) << at.generation.offset : 0);
        bool is_load = packet.kind == LOAD;
        if (!is_load) take |= packet.kind == ATOMIC ? MODIFIED | IS_ATOM : MODIFIED;
        uint32_t first = is_load ? LOAD_FIRST : STORE_FIRST;
        if (is_uninitialised) return {first, INITIALIZATION, NO_RACE, take};

        bool same_block = part(entry, at.block) == packet.block &&
                          part(entry, at.generation) == packet.generation;
        bool own_warp = same_block && part(entry, at.warp) == packet.warp;
        if (same_block && part(entry, at.barrier_id) != packet.barrier_id && !(entry & DEV_SHARED))
            return {first, SAME_BARRIER, NO_RACE, take};

        bool blk_fenced = part(entry, at.blk_fence_id) != step.owner_blk;
        bool dev_fenced = part(entry, at.dev_fence_id) != step.owner_dev;
        if (own_warp && !(entry & SHARED)) {
            if (!is_load) return {STORE_PROGRAM_ORDER, PROGRAM_ORDER, NO_RACE, take};
            // An unfenced write of the own warp must stay visible behind this read.
            if (!blk_fenced && !dev_fenced) take |= entry & MODIFIED;
            return {LOAD_PROGRAM_ORDER, PROGRAM_ORDER, NO_RACE, take};
        }
        if (!same_block && entry & IS_ATOM && !(entry & SCOPE))
            return {is_load ? LOAD_SCOPED_ATOMIC : STORE_SCOPED_ATOMIC, NONE, SCOPED_ATOMIC, take};
        Access access{take, entry, packet.filter, packet.strong != 0, own_warp, same_block,
                      blk_fenced, dev_fenced};
        return is_load ? decide_load(access) : decide_store(access);
    }
};

#endif
