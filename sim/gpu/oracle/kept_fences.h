// The fence.sc of each warp that later ones may be forced to follow.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "patterns.h"

// Fences of a warp that are kept.  What follows one that is not stands for it too, so that no order
//: is missing.
constexpr size_t MOST_FENCES = 64;

struct KeptFence {
    Time row, from;  // from: of the first that it stands for
    uint32_t lanes;
    Reach reach;
    int block;
    FenceRef fence;
    Known others;  // what is known at those that it stands for

    Known known(int warp, Joins &joins) const {
        return joins.join(fence->known(warp, joins), others);
    }

    // Lanes on two sides of a branch do not know each other's fences.
    void stand_for(const KeptFence &before, int warp, Joins &joins) {
        from = before.from;
        lanes |= before.lanes;
        reach = std::max(reach, before.reach);
        others = before.known(warp, joins);
    }

    // Whether one of another warp differs by its warp alone.
    bool is_alike(const KeptFence &other) const {
        return row == other.row && from == other.from && lanes == other.lanes &&
               reach == other.reach && !others && !other.others &&
               fence->is_alike(*other.fence);
    }
};

class KeptFences {
public:
    using List = std::vector<KeptFence>;  // ascending

    size_t leaf_count() const { return leaves_.size(); }

    // Of the warps of a leaf, the row of the last fence, and how far one of them reaches.
    Time last(size_t leaf) const { return leaves_[leaf] ? leaves_[leaf]->last : 0; }
    Reach reach(size_t leaf) const { return leaves_[leaf] ? leaves_[leaf]->reach : IN_BLOCK; }

    const List &of(int warp) const {
        static const List none;
        size_t leaf = warp / LANES;
        if (leaf >= leaves_.size() || !leaves_[leaf]) return none;
        const OfLeaf &own = *leaves_[leaf];
        return own.of_each ? (*own.of_each)[warp % LANES] : own.of_all;
    }

    // Adds a fence of a warp, whose block has passed a barrier at a time.
    void add(int warp, Time block_time, KeptFence fence, Joins &joins) {
        size_t leaf = warp / LANES;
        if (leaves_.size() <= leaf) leaves_.resize(leaf + 1);
        if (!leaves_[leaf]) leaves_[leaf] = std::make_unique<OfLeaf>();
        OfLeaf &own = *leaves_[leaf];
        own.last = fence.row;
        own.reach = std::max(own.reach, fence.reach);
        if (!own.of_each) own.of_each = std::make_unique<std::array<List, LANES>>();
        List &list = (*own.of_each)[warp % LANES];
        drop_narrow(list, block_time);
        list.push_back(std::move(fence));
        if (list.size() > MOST_FENCES) {
            list[1].stand_for(list[0], warp, joins);
            list.erase(list.begin());
        }
    }

    // Keeps of the warps of a block, which have ended, what those of others may follow.
    void retire(int first, int count) {
        for (int warp = first; warp < first + count; warp++) {
            size_t leaf = warp / LANES;
            if (leaf >= leaves_.size()) return;
            if (!leaves_[leaf]) continue;
            List &list = (*leaves_[leaf]->of_each)[warp % LANES];
            drop_narrow(list, std::numeric_limits<Time>::max());
            list.shrink_to_fit();
            if (warp % LANES == LANES - 1 || warp == first + count - 1) merge(leaves_[leaf]);
        }
    }

private:
    // Of the warps of a leaf.
    struct OfLeaf {
        Time last = 0;
        Reach reach = IN_BLOCK;
        std::unique_ptr<std::array<List, LANES>> of_each;
        List of_all;  // if the lists of all are alike, and no more will come
    };

    // Drops fences that only the block's own threads could be ordered behind, and that all of them
    // know.
    static void drop_narrow(List &list, Time until) {
        std::erase_if(list, [=](const KeptFence &each) {
            return each.reach == IN_BLOCK && each.row <= until;
        });
    }

    // Keeps one list of all warps of a leaf if theirs are alike.
    static void merge(std::unique_ptr<OfLeaf> &leaf) {
        auto &lists = *leaf->of_each;
        auto is_alike = [](const KeptFence &one, const KeptFence &other) {
            return one.is_alike(other);
        };
        for (const List &each : lists)
            if (!std::ranges::equal(each, lists[0], is_alike)) return;
        if (lists[0].empty()) return leaf.reset();
        leaf->of_all = std::move(lists[0]);
        leaf->of_each.reset();
    }

    std::vector<std::unique_ptr<OfLeaf>> leaves_;
};
