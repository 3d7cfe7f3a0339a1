// Blocks and warps of a kernel, numbered as they are placed, and what their threads know as long as
// they run.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "patterns.h"

// A warp that runs.
struct RunningWarp {
    Team team;
    // Owners of clocks: the warp, or its threads as warps of one lane each.
    std::vector<Warp> actors;
    std::vector<std::unique_ptr<OpenPatterns>> patterns;  // of those that have any
};

struct PlacedBlock {
    uint32_t grid_block;
    int32_t first_warp, warps;
    int32_t threads;
    int32_t cluster;   // block of rank 0 in its cluster: itself, if it has none
    int32_t size = 0;  // blocks of its cluster, if it is that
    int32_t left = 0;  // those of them that have not retired
};

class Places {
public:
    explicit Places(bool independent) : size(independent ? LANES : 1) {}

    const int size;  // actors of a warp

    void place(const Event &event) {
        int block = blocks_.size(), first = warps_.size(), count = event.warp_count;
        block_at_[key(event)] = block;
        last_key_ = NO_KEY;
        int cluster = event.size ? blocks_.back().cluster : block;
        int threads = (count - 1) * LANES + __builtin_popcount(event.mask ? event.mask : ALL_LANES);
        blocks_.push_back({event.grid_block, first, count, threads, cluster});
        blocks_[cluster].size++, blocks_[cluster].left++;
        first_in_slot_.push_back(event.warp);
        for (int warp = first; warp < first + count; warp++) {
            warp_block_.push_back(block);
            auto &made = warps_.emplace_back(std::make_unique<RunningWarp>());
            made->actors.reserve(size);
            made->patterns.resize(size);
            bool is_last = warp == first + count - 1;
            uint32_t live = is_last && event.mask ? event.mask : ALL_LANES;
            for (int actor = warp * size; actor < (warp + 1) * size; actor++)
                made->actors.emplace_back(Place{actor, block, cluster, first * size, count * size},
                                          size > 1 ? 1 : live, made->team);
        }
    }

    // Whether the block is the last of its cluster.
    bool retire(int block) {
        const PlacedBlock &of = blocks_[block];
        for (int warp = of.first_warp; warp < of.first_warp + of.warps; warp++) warps_[warp].reset();
        return !--blocks_[of.cluster].left;
    }

    // Warps of a block mostly follow each other.
    int block_of(const Event &event) const {
        if (uint64_t asked = key(event); asked != last_key_)
            last_block_ = block_at_.at(asked), last_key_ = asked;
        return last_block_;
    }
    int warp_of(const Event &event) const {
        int block = block_of(event);
        return blocks_[block].first_warp + event.warp - first_in_slot_[block];
    }

    const PlacedBlock &block(int number) const { return blocks_[number]; }
    int cluster_of(int block) const { return blocks_[block].cluster; }
    // Whether other blocks can access its shared memory.
    bool has_cluster(int block) const { return blocks_[cluster_of(block)].size > 1; }
    // Block in the grid whose shared memory an address of a thread in a cluster is in.
    uint32_t owner(int block, uint64_t address) const {
        int first = cluster_of(block);
        uint64_t rank = address >> SHARED_BITS;
        return rank < (uint64_t)blocks_[first].size ? blocks_[first + rank].grid_block : NO_BLOCK;
    }
    Reach distance(int one, int other) const {
        if (one == other) return IN_BLOCK;
        return one >= 0 && other >= 0 && cluster_of(one) == cluster_of(other) ? IN_CLUSTER
                                                                             : ON_DEVICE;
    }
    int block_of_warp(int warp) const { return warp_block_[warp]; }
    RunningWarp &warp(int number) { return *warps_[number]; }
    Warp &actor(int number) { return warps_[number / size]->actors[number % size]; }
    OpenPatterns &patterns(int number) {
        auto &own = warps_[number / size]->patterns[number % size];
        if (!own)
            own = std::make_unique<OpenPatterns>(size > 1 ? 1 : LANES, actor(number).place);
        return *own;
    }

    int first_actor(int block) const { return blocks_[block].first_warp * size; }
    int actor_count(int block) const { return blocks_[block].warps * size; }
    size_t warp_count() const { return warps_.size(); }

private:
    static constexpr uint64_t NO_KEY = ~(uint64_t)0;
    static uint64_t key(const Event &event) { return (uint64_t)event.sm << 8 | event.slot; }

    std::vector<PlacedBlock> blocks_;
    std::vector<uint8_t> first_in_slot_;  // warp slot of the first warp of a block
    std::vector<int32_t> warp_block_;
    std::vector<std::unique_ptr<RunningWarp>> warps_;
    std::unordered_map<uint64_t, int> block_at_;  // by SM and slot
    mutable uint64_t last_key_ = NO_KEY;          // that was asked for, and its block
    mutable int last_block_ = 0;
};
