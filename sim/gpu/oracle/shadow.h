// Shadow memory: for each location its history or its cell.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "cells.h"
#include "history.h"

//: Of a location's number: whether it is that of a cell.
constexpr uint32_t IS_CELL = 1u << 31;

class Shadow {
public:
    ~Shadow() {
        for (auto &[number, page] : pages_)
            for (uint32_t &slot : page) clear(slot);
    }

    Histories histories;

    // Bytes of a location, in powers of two.
    int bits() const { return bits_; }

    // Makes locations smaller: each becomes several with the same past.
    void refine(int bits) {
        int factor = 1 << (bits_ - bits);
        for (auto &[number, page] : pages_) {
            std::vector<uint32_t> finer(page.size() * factor);
            for (size_t i = 0; i < page.size(); i++)
                for (int part = 0; part < factor; part++)
                    finer[i * factor + part] = part ? copy(page[i]) : page[i];
            page = std::move(finer);
        }
        bits_ = bits;
        lately_ = {};
    }

    // Whether two places are on one page.
    static bool has_page(uint64_t one, uint64_t other) {
        return one >> PAGE_BITS == other >> PAGE_BITS;
    }

    // The first of the locations at an address; others follow up to the end of a page.
    uint32_t *at(uint64_t memory, uint64_t address) {
        // Shared memories are small.
        uint64_t number = address >> PAGE_BITS;
        if (memory) number += (1ull << 63) + (memory << PAGE_BITS);
        Lately &lately = lately_[number % LATELY];
        if (lately.number != number || !lately.slots) {
            auto &page = pages_[number];
            if (page.empty()) page.resize((1 << PAGE_BITS) >> bits_);
            lately = {number, page.data()};
            if (memory && (shared_[memory].empty() || shared_[memory].back() != number))
                shared_[memory].push_back(number);
        }
        return lately.slots + ((address & ((1 << PAGE_BITS) - 1)) >> bits_);
    }

    Cell &cell(uint32_t slot) { return *cells_[slot & ~IS_CELL]; }

    // Makes a new cell of a location.
    Cell &make_cell(uint32_t &slot) {
        clear(slot);
        uint32_t number = add(std::make_unique<Cell>());
        slot = IS_CELL | number;
        return *cells_[number];
    }

    // Forgets a location's past.
    void clear(uint32_t &slot) {
        if (slot & IS_CELL) {
            cells_[slot & ~IS_CELL].reset();
            free_.push_back(slot & ~IS_CELL);
        } else if (slot) {
            histories.leave(slot, 1);
        }
        slot = 0;
    }

    // Calls with each location in the shared memory of a block of a cluster that has a past, and its
    // address, ascending.
    template <class Visit> void each_of_rank(uint64_t memory, uint64_t rank, Visit visit) {
        auto pages = shared_.find(memory);
        if (pages == shared_.end()) return;
        uint64_t start = (1ull << 63) + (memory << PAGE_BITS);
        for (uint64_t number : std::set(pages->second.begin(), pages->second.end())) {
            uint64_t address = (number - start) << PAGE_BITS;
            if (address >> SHARED_BITS != rank) continue;
            for (uint32_t &slot : pages_.at(number)) {
                if (slot) visit(address, slot);
                address += 1 << bits_;
            }
        }
    }

    // Forgets the shared memories of a cluster.
    void forget(uint64_t memory) {
        auto found = shared_.find(memory);
        if (found == shared_.end()) return;
        for (uint64_t number : found->second) {
            auto page = pages_.find(number);
            if (page == pages_.end()) continue;
            for (uint32_t &slot : page->second) clear(slot);
            pages_.erase(page);
            Lately &lately = lately_[number % LATELY];
            if (lately.number == number) lately = {};
        }
        shared_.erase(found);
    }

private:
    static constexpr int PAGE_BITS = 12;
    static constexpr size_t LATELY = 61;
    struct Lately {
        uint64_t number = 0;
        uint32_t *slots = nullptr;
    };

    uint32_t add(std::unique_ptr<Cell> cell) {
        if (free_.empty()) {
            cells_.push_back(std::move(cell));
            return cells_.size() - 1;
        }
        uint32_t number = free_.back();
        free_.pop_back();
        cells_[number] = std::move(cell);
        return number;
    }

    uint32_t copy(uint32_t slot) {
        if (slot & IS_CELL) return IS_CELL | add(std::make_unique<Cell>(cell(slot).copy()));
        if (slot) histories.at(slot)->users++;
        return slot;
    }

    int bits_ = 2;
    std::unordered_map<uint64_t, std::vector<uint32_t>> pages_;
    std::unordered_map<uint64_t, std::vector<uint64_t>> shared_;  // pages of each memory
    std::array<Lately, LATELY> lately_{};
    std::vector<std::unique_ptr<Cell>> cells_;
    std::vector<uint32_t> free_;
};
