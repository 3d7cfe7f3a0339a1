// Program of a kernel: the instructions of each warp, with the packets of each access.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "twins.h"

// TELL: what only a detector sees.
enum class Does : uint8_t {
    LOAD, VOLATILE_LOAD, STORE, ATOMIC, TELL, FENCE, DEVICE_FENCE, BARRIER
};

struct Packet {
    uint64_t segment;
    uint32_t words;  // a bit for each 4-byte word
};

struct Instruction {
    uint32_t gap;  // instructions of the warp before it that access no memory
    uint32_t first, count;
    Does does;
    uint32_t first_told, told;  // transactions for a detector
    uint8_t slot;               // of the warp
};

struct Block {
    uint32_t sm, slot, first_warp, warps;
    uint32_t first_told, told;  // at its begin
};

class Program {
public:
    // Of a kernel that is executed now: blocks and instructions come while it runs.
    explicit Program(uint64_t segment_log2) : is_open(true), segment_log2_(segment_log2) {}

    Program(const KernelArrays &kernel, uint64_t segment_log2) : segment_log2_(segment_log2) {
        for (uint64_t block = 0; block < kernel.blocks; block++)
            place(kernel.block_sm[block], kernel.block_slot[block], kernel.warp_count[block]);
        uint64_t placed = 0;
        for (uint64_t row = 0; row < kernel.rows; row++) {
            const Event &event = kernel.events[row];
            if (event.kind == EventKind::BLOCK_PLACED) {
                Block &block = blocks[placed++];
                block.first_told = told.size();
                block.told = tell(kernel, row, told);
            }
            if (event.kind == EventKind::BARRIER) {
                const Block &block = blocks[kernel.block[row]];
                tell(kernel, row, told_of_warp_[block.first_warp]);
                for (uint32_t warp = 0; warp < block.warps; warp++) wait(block.first_warp + warp);
            }
            int32_t warp = kernel.warp[row];
            if (warp < 0) continue;
            tell(kernel, row, told_of_warp_[warp]);
            follow(warp, event, kernel.lanes + event.first_lane - kernel.first_lane,
                   kernel.gaps[row]);
        }
    }

    void place(uint32_t sm, uint32_t slot, uint32_t count) {
        blocks.push_back({sm, slot, uint32_t(warps.size()), count, 0, 0});
        warps.resize(warps.size() + count);
        gaps_.resize(warps.size());
        told_of_warp_.resize(warps.size());
    }

    // A warp's event, behind some of its instructions that make none.
    void follow(uint32_t warp, const Event &event, const LaneRecord *lanes, uint32_t gap) {
        slot_ = event.warp;
        gaps_[warp] += gap;
        if (event.kind == EventKind::FENCE)
            add(warp, event.scope ? Does::DEVICE_FENCE : Does::FENCE);
        else if (event.kind <= EventKind::ATOMIC && !event.space)
            access(warp, event, lanes);
        else if (!told_of_warp_[warp].empty())
            add(warp, Does::TELL);
        else if (event.kind <= EventKind::ATOMIC)
            gaps_[warp]++;
    }

    // A warp waits for all others of its block.
    void wait(uint32_t warp) { add(warp, Does::BARRIER); }

    // A warp lets time pass.
    void pause(uint32_t warp, uint32_t gap) {
        gaps_[warp] += gap;
        add(warp, Does::TELL);
    }

    const bool is_open = false;
    std::vector<std::vector<Instruction>> warps;
    std::vector<Block> blocks;
    std::vector<Packet> packets;
    std::vector<uint32_t> told;  // numbers of transactions, in the order of instructions

private:
    // Appends the transactions of a row; how many these are.
    static uint32_t tell(const KernelArrays &kernel, uint64_t row, std::vector<uint32_t> &numbers) {
        if (!kernel.first_told) return 0;
        for (uint64_t each = kernel.first_told[row]; each < kernel.first_told[row + 1]; each++)
            numbers.push_back(each);
        return kernel.first_told[row + 1] - kernel.first_told[row];
    }

    void add(uint32_t warp, Does does, uint32_t first = 0, uint32_t count = 0) {
        std::vector<uint32_t> &own = told_of_warp_[warp];
        warps[warp].push_back({gaps_[warp], first, count, does, uint32_t(told.size()),
                               uint32_t(own.size()), slot_});
        told.insert(told.end(), own.begin(), own.end());
        own.clear();
        gaps_[warp] = 0;
    }

    // One packet for each segment; lanes that update one word atomically need one each.
    void access(uint32_t warp, const Event &event, const LaneRecord *lanes) {
        bool is_atomic = event.kind == EventKind::ATOMIC;
        size_t first = packets.size();
        for (int lane = 0; lane < std::popcount(event.mask); lane++) {
            uint64_t address = lanes[lane].address;
            uint32_t word = (address >> 2) & ((1u << (segment_log2_ - 2)) - 1);
            uint32_t words = ((1u << std::max(1, event.size / 4)) - 1) << word;
            place(first, address >> segment_log2_, words, is_atomic);
        }
        std::stable_sort(packets.begin() + first, packets.end(),
                         [](const Packet &a, const Packet &b) { return a.segment < b.segment; });
        Does does = Does::STORE;
        if (is_atomic) does = Does::ATOMIC;
        if (event.kind == EventKind::LOAD)
            does = event.strong ? Does::VOLATILE_LOAD : Does::LOAD;
        add(warp, does, first, packets.size() - first);
    }

    void place(size_t first, uint64_t segment, uint32_t words, bool is_atomic) {
        for (size_t at = first; at < packets.size(); at++) {
            Packet &packet = packets[at];
            if (packet.segment != segment || (is_atomic && packet.words & words)) continue;
            packet.words |= words;
            return;
        }
        packets.push_back({segment, words});
    }

    uint64_t segment_log2_;
    uint8_t slot_ = 0;
    std::vector<uint32_t> gaps_;  // of each warp's next instruction
    std::vector<std::vector<uint32_t>> told_of_warp_;  // with the next instruction
};
