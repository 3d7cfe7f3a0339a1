// Pins of a Vortex core, between the library of the Verilated core and the testbench around it.

#pragma once

#include <cstdint>

struct CorePins {
    // In.
    bool reset, block_valid, fetch_ready, fetched_valid, request_ready, response_valid;
    uint32_t block_data[13];
    uint32_t fetched_data, response_data[4];
    uint64_t fetched_tag, response_tag;
    // Out.
    bool busy, block_ready, fetch_valid, fetched_ready, request_valid, response_ready;
    bool issue_valid, start_valid;
    uint32_t fetch_address;
    uint64_t fetch_tag;
    uint32_t request_data[8], issue_data[17];
    uint8_t start_warp, start_slot, start_rank, start_count, start_lanes, active_warps;
};

// What the library offers.
struct CoreFunctions {
    void* (*make)(uint64_t seed);
    void (*destroy)(void* core);
    void (*settle)(void* core, CorePins* pins);  // outputs for these inputs
    void (*clock)(void* core);                   // the edge that takes them
};
