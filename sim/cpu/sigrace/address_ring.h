// The exact accesses of a core unit's latest blocks, and what two blocks have in common, as
// AddressRing and Confirmation of racetrap.golden_model.sigrace.
#ifndef ADDRESS_RING_H
#define ADDRESS_RING_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "settings.h"

// Accesses to a word, with a bit for each byte of it that is read, or written.
struct RingEntry {
    uint32_t word;
    uint8_t read, written;
};

// Entries of a block, one a word, ascending.
using RingBlock = std::vector<RingEntry>;

class AddressRing {
public:
    uint64_t written = 0;  // entries since the start

    AddressRing(uint64_t depth, uint64_t blocks)
        : entries_(depth), blocks_(blocks), recent_(RING_RECENT) {}

    // An access to a granule (byte address).
    void record(uint32_t address, uint32_t bytes, bool is_write) {
        uint32_t word = address >> RING_WORD_LOG2;
        uint8_t used = bytes << (address & ((1u << RING_WORD_LOG2) - 1));
        Recent &recent = recent_[word % RING_RECENT];
        if (recent.word != word || recent.block != number_) recent = {word, 0, 0, number_};
        if (!(used & ~(recent.written | (is_write ? 0 : recent.read)))) return;
        (is_write ? recent.written : recent.read) |= used;
        RingEntry &newest = entries_[(written - 1) % entries_.size()];
        if (written > first_ && newest.word == word && !newest.written == !is_write)
            (is_write ? newest.written : newest.read) |= used;
        else
            entries_[written++ % entries_.size()] = {word, is_write ? uint8_t(0) : used,
                                                     is_write ? used : uint8_t(0)};
    }

    // The block, which is sent, ends.
    void end() {
        blocks_[number_ % blocks_.size()] = {first_, written};
        first_ = written;
        number_++;
    }

    // A block; nothing if some of it is gone.  Adds the number of its entries.
    std::optional<RingBlock> read(uint64_t number, uint64_t &count) const {
        if (number >= number_ || number_ - number > blocks_.size()) return {};
        auto [first, behind] = blocks_[number % blocks_.size()];
        if (written - first > entries_.size()) return {};
        count += behind - first;
        RingBlock found;
        for (uint64_t at = first; at < behind; at++) found.push_back(entries_[at % entries_.size()]);
        merge(found);
        return found;
    }

private:
    struct Recent {
        uint32_t word;
        uint8_t read, written;
        uint64_t block = -1;
    };
    struct Block {
        uint64_t first, behind;
    };
    std::vector<RingEntry> entries_;
    std::vector<Block> blocks_;
    std::vector<Recent> recent_;
    uint64_t number_ = 0, first_ = 0;

    static void merge(RingBlock &entries) {
        std::sort(entries.begin(), entries.end(),
                  [](const RingEntry &one, const RingEntry &other) { return one.word < other.word; });
        size_t kept = 0;
        for (const RingEntry &entry : entries) {
            if (kept && entries[kept - 1].word == entry.word) {
                entries[kept - 1].read |= entry.read;
                entries[kept - 1].written |= entry.written;
            } else {
                entries[kept++] = entry;
            }
        }
        entries.resize(kept);
    }
};

// Looks the conflicts of one request up in the rings; each block is read once.
class Confirmation {
public:
    uint64_t read = 0;  // entries

    explicit Confirmation(const std::vector<AddressRing> &rings) : rings_(&rings) {}

    // Granules (byte addresses) with a byte that both blocks use and one of them writes; nothing if
    // a ring no longer holds its block.
    template <class Name>
    std::optional<std::vector<uint64_t>> common(const Name &one, const Name &other) {
        const auto &first = block(one.unit, one.number), &second = block(other.unit, other.number);
        if (!first || !second) return {};
        std::vector<uint64_t> found;
        for (auto a = first->begin(), b = second->begin(); a != first->end() && b != second->end();) {
            if (a->word != b->word) {
                a->word < b->word ? ++a : ++b;
                continue;
            }
            uint32_t both = (a->written & (b->read | b->written)) | (a->read & b->written);
            for (uint64_t place = 0; place < 1u << RING_WORD_LOG2; place += 1u << GRANULE_LOG2)
                if (both >> place & ((1u << (1u << GRANULE_LOG2)) - 1))
                    found.push_back(((uint64_t)a->word << RING_WORD_LOG2) + place);
            ++a, ++b;
        }
        return found;
    }

private:
    const std::vector<AddressRing> *rings_;
    std::map<std::pair<uint32_t, uint64_t>, std::optional<RingBlock>> blocks_;

    const std::optional<RingBlock> &block(uint32_t unit, uint64_t number) {
        auto [at, is_new] = blocks_.try_emplace({unit, number});
        if (is_new) at->second = (*rings_)[unit].read(number, read);
        return at->second;
    }
};

#endif
