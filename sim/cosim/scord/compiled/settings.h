// Configuration of a launch, as Settings of compiled_scoreboard.py, and fields of packed words.
#ifndef SETTINGS_H
#define SETTINGS_H

#include <cstdint>

// Place of a field in a record of 32-bit words, least significant word first.
struct Field {
    uint32_t offset, width;

    uint64_t get(const uint32_t *words) const {
        uint64_t value = 0;
        unsigned index = offset / 32, shift = offset % 32, done = 0;
        while (done < width) {
            value |= uint64_t(words[index++] >> shift) << done;
            done += 32 - shift;
            shift = 0;
        }
        return width < 64 ? value & ((uint64_t(1) << width) - 1) : value;
    }

    // Sets a field that is 0.
    void put(uint32_t *words, uint64_t value) const {
        unsigned index = offset / 32, shift = offset % 32, done = 0;
        while (done < width) {
            words[index++] |= uint32_t(value >> done << shift);
            done += 32 - shift;
            shift = 0;
        }
    }
};

// Fields of ScordParams.transaction_layout and .step_layout, in their order.
struct TransactionFields {
    Field kind, scope, strong, op, slot, warp, pc, line, mask, lock_mask;
};
struct StepFields {
    Field kind, scope, strong, block, warp, barrier_id, filter, pc, word;
    Field row, preliminary, race, tag_conflict, read_error;
    Field owner_blk, owner_dev, own_blk, own_dev, before, after;
};

// Positions of the fields of an entry that lie above its flags.
struct EntryFields {
    Field barrier_id, blk_fence_id, dev_fence_id, warp, block, tag;
};

enum Policy : uint32_t { STALL, DROP, SAMPLE };

struct Settings {
    uint32_t sm_count, blocks_per_sm, warps_per_sm, slot_bits, warp_bits;
    uint32_t granularity_bits, lock_table_depth, fence_id_bits, barrier_id_bits;
    uint32_t banks, words_per_cycle, port_bits, odd_ports, residue_bits;
    uint32_t policy, sample_log2, transaction_words, step_words;
    uint32_t lock_hash_columns[64];
    TransactionFields transaction;
    StepFields step;
    EntryFields entry;
};

// A monitored region: granules are counted from `frame`, entries from `first_index`.
struct Region {
    uint64_t data_base, end, frame, entries, first_index;
};

#endif
