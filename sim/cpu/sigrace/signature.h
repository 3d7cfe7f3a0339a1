// Signatures as arrays of words: each filter begins with a word of its own, so that one is tested
// by whole words.
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <vector>

#include "settings.h"

using Words = std::vector<uint64_t>;

inline void set_bit(Words &words, uint32_t bit) { words[bit >> 6] |= 1ull << (bit & 63); }

class SignatureHash {
public:
    SignatureHash(const Settings &settings, const Filter *filters)
        : filters_(filters, filters + settings.filters), bits_(settings.signature_bits),
          lsb_bits_(settings.lsb_bits - GRANULE_LOG2) {
        for (const Filter &filter : filters_) {
            first_.push_back(words_);
            (filter.is_lsb ? lsb_ : usb_).add(filter, words_ * 64);
            words_ += (filter.bits + 63) / 64;
        }
        first_.push_back(words_);
    }

    size_t words() const { return words_; }

    // Bytes of a signature as one integer.
    size_t packed_bytes() const { return (bits_ + 63) / 64 * 8; }

    void insert_lsb(Words &signature, uint32_t value) const { lsb_.insert(signature, value); }
    void insert_usb(Words &signature, uint32_t value) const { usb_.insert(signature, value); }

    // Whether an intersection keeps a bit in every filter.
    bool meet(const Words &one, const Words &other) const {
        const uint64_t *a = one.data(), *b = other.data();
        for (size_t filter = 0, word = 0; filter < filters_.size(); filter++) {
            uint64_t both = 0;
            for (; word < first_[filter + 1]; word++) both |= a[word] & b[word];
            if (!both) return false;
        }
        return true;
    }

    // Whether a granule (byte address) is a member.
    bool has(const Words &signature, uint64_t address) const {
        uint32_t granule = (uint32_t)address >> GRANULE_LOG2;
        return usb_.is_in(signature, granule >> lsb_bits_) &&
               lsb_.is_in(signature, granule & ((1u << lsb_bits_) - 1));
    }

    // Those of some granules (byte addresses, ascending) that are members.  All granules of a USB
    // value are passed over at once if that is no member.
    std::vector<uint64_t> members(const Words &signature,
                                  const std::vector<uint64_t> &granules) const {
        std::vector<uint64_t> found;
        uint64_t bits = lsb_bits_ + GRANULE_LOG2;
        for (auto at = granules.begin(); at != granules.end();) {
            uint64_t usb = *at >> bits;
            auto most = at + std::min<int64_t>(granules.end() - at, 1ll << lsb_bits_);
            auto end = std::partition_point(
                at, most, [&](uint64_t each) { return each >> bits == usb; });
            if (usb_.is_in(signature, (uint32_t)*at >> bits))
                std::copy_if(at, end, std::back_inserter(found),
                             [&](uint64_t each) { return has(signature, each); });
            at = end;
        }
        return found;
    }

    // Bits of the compressed form of a signature that is not empty.
    uint64_t message_bits(const Words &signature) const {
        uint64_t total = 0;
        for (size_t filter = 0; filter < filters_.size(); filter++) {
            uint64_t bits = filters_[filter].bits, count = 0;
            for (size_t word = first_[filter]; word < first_[filter + 1]; word++)
                count += std::popcount(signature[word]);
            uint64_t index_bits = std::bit_width(bits) - 1, list = index_bits * (1 + count);
            total += 1 + (list < bits && count < bits ? list : bits);
        }
        return total;
    }

    // A signature with its filters at their offsets.
    void pack(const Words &signature, uint64_t *target) const {
        std::fill_n(target, packed_bytes() / 8, 0);
        for (size_t filter = 0; filter < filters_.size(); filter++)
            for (uint64_t bit = 0; bit < filters_[filter].bits; bit++) {
                uint64_t from = first_[filter] * 64 + bit, to = filters_[filter].offset + bit;
                target[to >> 6] |= (signature[from >> 6] >> (from & 63) & 1) << (to & 63);
            }
    }

private:
    // Places of the bits of a portion's value in its filters, by bytes of the value.
    class Portion {
    public:
        void add(const Filter &filter, uint32_t base) {
            size_t number = filters_++;
            tables_.resize(filters_ * TABLE);
            for (size_t byte = 0; byte < BYTES; byte++)
                for (size_t value = 0; value < 256; value++) {
                    uint32_t hash = 0;
                    for (size_t bit = 0; bit < 8; bit++)
                        if (value >> bit & 1) hash ^= filter.rows[8 * byte + bit];
                    tables_[number * TABLE + byte * 256 + value] = hash;
                }
            bases_.push_back(base);
        }

        void insert(Words &signature, uint32_t value) const {
            for (size_t filter = 0; filter < filters_; filter++)
                set_bit(signature, place(filter, value));
        }

        bool is_in(const Words &signature, uint32_t value) const {
            for (size_t filter = 0; filter < filters_; filter++) {
                uint32_t bit = place(filter, value);
                if (!(signature[bit >> 6] >> (bit & 63) & 1)) return false;
            }
            return true;
        }

    private:
        static constexpr size_t BYTES = 4, TABLE = 256 * BYTES;
        size_t filters_ = 0;
        std::vector<uint32_t> tables_, bases_;

        uint32_t place(size_t filter, uint32_t value) const {
            const uint32_t *table = &tables_[filter * TABLE];
            uint32_t hash = 0;
            for (; value; value >>= 8, table += 256) hash ^= table[value & 255];
            return bases_[filter] + hash;
        }
    };

    std::vector<Filter> filters_;
    size_t bits_, lsb_bits_, words_ = 0;
    std::vector<size_t> first_;
    Portion lsb_, usb_;
};

#endif
