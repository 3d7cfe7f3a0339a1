// One core of a testbench with what it waits for, and the word that gives it a block.

#pragma once

#include "core_pins.h"
#include "twins.h"

#include <array>
#include <cstring>
#include <deque>

// What the launcher gets of a kernel, by KernelField.
using Kernel = std::array<uint64_t, KernelField_COUNT>;

struct VortexCore {
    void* core = nullptr;
    CorePins pins{};
    struct Response {
        uint64_t time, tag;
        uint8_t data[16];
    };
    std::deque<Response> responses;
    struct Fetch {
        uint64_t time, tag;
        uint32_t data;
    };
    std::deque<Fetch> fetches;
    // Loads from LOCK by warp: the answer is known, and given when the front end has the outcome.
    struct Taking {
        bool waits = false, is_taken = false, is_free = false;
        uint64_t since = 0;
        Response response{};
    };
    Taking takings[4];
    int offered = -1;       // warp whose outcome is offered
    uint64_t begun_at = 0;  // when the latest block was taken

    // Warps that try a lock.
    uint32_t locking() const {
        uint32_t warps = 0;
        for (int warp = 0; warp < 4; warp++) warps |= uint32_t(takings[warp].waits) << warp;
        return warps;
    }
    bool is_idle() const {
        return !pins.busy && !pins.active_warps && responses.empty() && !locking();
    }

    // Number of a response that may be given; as many as there are if none.
    size_t ready_response(uint64_t now) const {
        size_t n = 0;
        while (n < responses.size() && responses[n].time > now) n++;
        return n;
    }

    // Whether a block may be given.  Blocks of several warps begin in consecutive warp slots: in an
    // empty core, or just behind the first of two.
    bool has_room(uint64_t warps, uint64_t now) const {
        if (warps == 1) return pins.active_warps != 15;
        bool is_empty = !pins.active_warps && !pins.busy && now > begun_at + 8;
        bool is_second = warps == 2 && pins.active_warps == 3 && now < begun_at + 12;
        return is_empty || is_second;
    }

    // The word that gives a block; another context each time, so that warps begin at the start.
    void give(const Kernel& kernel, uint64_t block) {
        std::memset(pins.block_data, 0, sizeof pins.block_data);
        put(364, 32, uint64_t(WINDOW_CODE) << 28);
        put(332, 32, kernel[KERNEL_ENTRY]);
        put(324, 8, 1 + block % 2);
        put(196, 32, block);
        put(181, 5, kernel[KERNEL_THREADS]);
        put(186, 5, 1);
        put(191, 5, 1);
        put(85, 32, kernel[KERNEL_BLOCKS]);
        put(117, 32, 1);
        put(149, 32, 1);
        put(53, 32, kernel[KERNEL_ARGUMENT]);
        put(38, 15, LOCAL_BYTES);
        put(33, 5, kernel[KERNEL_THREADS]);
        put(21, 4, 4);  // threads from warp to warp
        put(18, 3, 1);
        put(1, 17, LOCAL_BYTES);
        put(0, 1, 1);
    }

  private:
    static constexpr uint64_t LOCAL_BYTES = 256;

    void put(int low, int width, uint64_t value) {
        for (int bit = 0; bit < width; bit++)
            if (value >> bit & 1) pins.block_data[(low + bit) / 32] |= 1u << (low + bit) % 32;
    }
};
