// Configuration of a run, as Settings and Filter of settings.py.
#ifndef SETTINGS_H
#define SETTINGS_H

#include <cstdint>

struct Settings {
    uint64_t cores, contexts, threads, lsb_bits, is_hashed, usb_limit, usb_count_bits;
    uint64_t block_instructions, max_count, max_counter, history_depth, log_depth, log_blocks;
    uint64_t message_bits;  // header and timestamp
    uint64_t filters, signature_bits, is_unbounded, interval;
    uint64_t slots;  // contexts in use
    uint64_t moves, quantum;
};

constexpr unsigned GRANULE_LOG2 = 2;
constexpr unsigned ADDRESS_BITS = 32;

// One of the parallel filters of a signature; row i of its matrix is for bit i of the portion's
// value.
struct Filter {
    uint32_t is_lsb, offset, bits, rows[ADDRESS_BITS];
};

#endif
