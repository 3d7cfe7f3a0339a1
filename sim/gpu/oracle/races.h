// Races of a kernel: of each two program counters the first instance, and the number of all.
#pragma once

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "patterns.h"
#include "places.h"

//: Pairs of blocks of a race that are counted.
constexpr size_t MOST_BLOCK_PAIRS = 1 << 16;

// A candidate for a race of one access.
struct Candidate {
    uint64_t key;
    Access first;
    uint32_t kind;
    int block;
    bool is_strong, is_cut;
};

class Races {
public:
    Races(const Places &places, const std::vector<Kind> &kinds, uint64_t first_event)
        : places_(places), kinds_(kinds), first_event_(first_event) {}

    std::vector<Found> found;

    // Two races are the same if these agree: program counters of both accesses, and the rest.
    static uint64_t key_of(const Kind &first, const Kind &second, bool is_strong, bool is_near) {
        uint64_t one = first.pc_number, other = second.pc_number;
        return one << 33 | other << 2 | is_strong << 1 | is_near;
    }

    bool has(uint64_t key) const { return tallies_.count(key); }

    // Of the candidates of a cell that are one race the latest is reported, the others count.
    void report(std::vector<Candidate> &candidates, const Access &access, uint32_t kind, int block,
                uint64_t address, bool is_shared) {
        std::sort(candidates.begin(), candidates.end(), [](const auto &one, const auto &other) {
            return std::tie(one.first.row, one.first.warp, one.first.lane) >
                   std::tie(other.first.row, other.first.warp, other.first.lane);
        });
        for (const Candidate &each : candidates) {
            auto [place, is_new] = tallies_.try_emplace(each.key, Tally{found.size(), 0, {}});
            Tally &tally = place->second;
            if (!is_new && each.is_strong) continue;
            if (is_new) {
                const Kind &own = kinds_[kind], &other = kinds_[each.kind];
                Found &race = found.emplace_back();
                race = pair(each.first, other, access, own, address, is_shared);
                race.is_strong = each.is_strong;
                race.is_narrow =
                    own.is_strong && other.is_strong && own.size == other.size && !each.is_strong;
                race.is_volatile = own.is_volatile || other.is_volatile;
            }
            count(tally, access.row, each.block, block);
            found[tally.number].is_least |= each.is_cut;
        }
    }

    // Lanes of one store that have stored different values to one place.
    void report_store(const Access &first, const Access &second, const Kind &kind, int block,
                      uint64_t address, bool is_shared) {
        uint64_t key = (uint64_t)kind.pc_number << 1 | is_shared;
        auto [place, is_new] = stores_.try_emplace(key, Tally{found.size(), 0, {}});
        if (is_new) {
            Found &race = found.emplace_back();
            race = pair(first, kind, second, kind, address, is_shared);
            race.is_same = true;
        }
        count(place->second, second.row, block, block);
    }

private:
    struct Tally {
        size_t number;  // of its finding
        Time last_row = 0;
        std::unordered_set<uint64_t> block_pairs;
    };

    void count(Tally &tally, Time row, int one, int other) {
        Found &race = found[tally.number];
        race.instances += tally.last_row != row;
        tally.last_row = row;
        auto [low, high] = std::minmax(one, other);
        if (tally.block_pairs.size() < MOST_BLOCK_PAIRS)
            tally.block_pairs.insert((uint64_t)low << 32 | high);
        else race.is_least = true;
        race.block_pairs = tally.block_pairs.size();
    }

    Found pair(const Access &first, const Kind &of_first, const Access &second,
               const Kind &of_second, uint64_t address, bool is_shared) const {
        Found race{};
        race.address = address;
        race.is_shared = is_shared;
        race.owner = NO_BLOCK;
        auto [one_block, one] = place_of(first, race.first_grid_block, race.first_thread);
        auto [other_block, other] = place_of(second, race.second_grid_block, race.second_thread);
        if (is_shared && places_.has_cluster(other_block))
            race.owner = places_.owner(other_block, address);
        race.is_same_block = one_block == other_block;
        race.is_same_warp = one == other;
        race.first_event = first_event_ + first.row, race.second_event = first_event_ + second.row;
        race.first_pc = of_first.pc, race.second_pc = of_second.pc;
        race.first_kind = first.event, race.second_kind = second.event;
        race.first_size = of_first.size, race.second_size = of_second.size;
        return race;
    }

    // Block and warp of an access; its block in the grid and thread in the block besides.
    std::pair<int, int> place_of(const Access &access, uint32_t &grid_block,
                                 uint32_t &thread) const {
        int warp = access.warp / places_.size;
        int lane = places_.size > 1 ? access.warp % LANES : access.lane;
        int number = places_.block_of_warp(warp);
        const PlacedBlock &block = places_.block(number);
        grid_block = block.grid_block;
        thread = (warp - block.first_warp) * LANES + lane;
        return {number, warp};
    }

    const Places &places_;
    const std::vector<Kind> &kinds_;
    uint64_t first_event_;
    std::unordered_map<uint64_t, Tally> tallies_, stores_;
};
