// Times up to which warps are known, in trees that are never changed once they are shared; what two
// of them have in common is stored once.
#pragma once

#include "leaf.h"

using PartRef = Ref<const Part>;

// Times of any warps.  The root is the least subtree that has them all, so those of one block are few
// nodes.
class WarpTimes {
public:
    bool operator==(const WarpTimes &other) const { return root_ == other.root_; }

    const Leaf *leaf_of(uint32_t number) const {
        if (!root_ || number >> bits_ != number_) return nullptr;
        const Part *part = root_.get();
        for (int bits = bits_; part && bits;) {
            bits -= BITS;
            part = static_cast<const Branch *>(part)->parts[place_of(number, bits)].get();
        }
        return static_cast<const Leaf *>(part);
    }

    // Calls with each leaf whose number is in a range, in order.
    template <class Visit> void each_leaf(uint32_t first, uint32_t end, Visit visit) const {
        each_leaf(root_.get(), number_, bits_, first, end, visit);
    }

    // A leaf as one that only this has.
    Leaf &own(uint32_t number) { return own<Leaf>(part(number)); }

    void forget(uint32_t number) {
        if (leaf_of(number)) part(number) = PartRef();
    }

    bool covers(const WarpTimes &other) const {
        if (!other.root_ || *this == other) return true;
        if (!root_) return false;
        WarpTimes mine = *this, more = other;
        align(mine, more);
        return covers(mine.root_.get(), more.root_.get(), mine.bits_);
    }

    // Join of both: one of the two themselves if the other adds nothing.
    static WarpTimes join(const WarpTimes &one, const WarpTimes &other) {
        if (!other.root_ || one == other) return one;
        if (!one.root_) return other;
        if (one.has(other)) return one.join_part(other);
        if (other.has(one)) return other.join_part(one);
        WarpTimes joined = one, more = other;
        align(joined, more);
        PartRef root = join(joined.root_, more.root_, joined.bits_);
        if (root == joined.root_) return one;
        if (root == more.root_) return other;
        joined.root_ = std::move(root);
        return joined;
    }

private:
    static constexpr int BITS = 3, WIDTH = 1 << BITS;
    struct Branch : Part {
        std::array<PartRef, WIDTH> parts;

        Range find_range() const override {
            Range range{std::numeric_limits<Time>::max(), 0};
            for (const PartRef &each : parts) {
                auto [first, last] = each ? range_of(*each) : Range{};
                range = {std::min(range.first, first), std::max(range.second, last)};
            }
            return range;
        }
    };

    // Whether the root of another stands for a part of the leaves of this one's.
    bool has(const WarpTimes &other) const {
        return bits_ > other.bits_ && other.number_ >> (bits_ - other.bits_) == number_;
    }

    // Join with another, of which this one has the root.
    WarpTimes join_part(const WarpTimes &other) const {
        WarpTimes joined;
        joined.root_ = join_part(root_, bits_, other);
        joined.number_ = number_, joined.bits_ = bits_;
        return joined;
    }

    static PartRef join_part(const PartRef &part, int bits, WarpTimes other) {
        if (!part)
            while (other.bits_ < bits) other.lift();
        if (bits == other.bits_) return join(part, other.root_, bits);
        int place = place_of(other.number_, bits - BITS - other.bits_);
        const auto &branch = static_cast<const Branch &>(*part);
        PartRef joined = join_part(branch.parts[place], bits - BITS, other);
        if (joined == branch.parts[place]) return part;
        auto made = new Branch(branch);
        made->change();
        made->parts[place] = std::move(joined);
        return PartRef(made);
    }

    static int place_of(uint32_t number, int bits) { return number >> bits & (WIDTH - 1); }

    // Makes the root part of one that has more leaves.
    void lift() {
        auto branch = new Branch();
        branch->parts[place_of(number_, 0)] = std::move(root_);
        root_ = PartRef(branch);
        number_ >>= BITS, bits_ += BITS;
    }

    // Makes the roots of two stand for the same leaves.
    static void align(WarpTimes &one, WarpTimes &other) {
        while (one.bits_ != other.bits_ || one.number_ != other.number_) {
            bool is_low = one.bits_ <= other.bits_, is_high = one.bits_ >= other.bits_;
            if (is_low) one.lift();
            if (is_high) other.lift();
        }
    }

    // Where a leaf is, in branches that only this has.
    PartRef &part(uint32_t number) {
        if (!root_) number_ = number, bits_ = 0;
        while (number >> bits_ != number_) lift();
        PartRef *part = &root_;
        for (int bits = bits_; bits;) {
            bits -= BITS;
            part = &own<Branch>(*part).parts[place_of(number, bits)];
        }
        return *part;
    }

    template <class Kind> static Kind &own(PartRef &part) {
        auto old = static_cast<const Kind *>(part.get());
        if (!old || old->is_shared()) part = PartRef(old ? new Kind(*old) : new Kind());
        auto own = const_cast<Kind *>(static_cast<const Kind *>(part.get()));
        own->change();
        return *own;
    }

    template <class Visit>
    static void each_leaf(const Part *part, uint32_t number, int bits, uint32_t first,
                          uint32_t end, Visit &visit) {
        if (!part || (uint64_t)number << bits >= end || number < first >> bits) return;
        if (!bits) return visit(number, *static_cast<const Leaf *>(part));
        const auto &parts = static_cast<const Branch *>(part)->parts;
        for (int i = 0; i < WIDTH; i++)
            each_leaf(parts[i].get(), number << BITS | i, bits - BITS, first, end, visit);
    }

    static bool covers(const Part *one, const Part *other, int bits) {
        if (!other || one == other) return true;
        if (!one) return false;
        if (one->is_later(*other)) return true;
        if (!bits) return static_cast<const Leaf *>(one)->covers(static_cast<const Leaf &>(*other));
        const auto &mine = static_cast<const Branch *>(one)->parts;
        const auto &more = static_cast<const Branch *>(other)->parts;
        for (int i = 0; i < WIDTH; i++)
            if (!covers(mine[i].get(), more[i].get(), bits - BITS)) return false;
        return true;
    }

    static PartRef join(const PartRef &one, const PartRef &other, int bits) {
        if (!other || one == other) return one;
        if (!one || other->is_later(*one)) return other;
        if (one->is_later(*other)) return one;
        if (!bits)
            return join(one, static_cast<const Leaf &>(*one), other,
                        static_cast<const Leaf &>(*other));
        const auto &mine = static_cast<const Branch &>(*one).parts;
        const auto &more = static_cast<const Branch &>(*other).parts;
        std::array<PartRef, WIDTH> joined;
        bool is_one = true, is_other = true;
        for (int i = 0; i < WIDTH; i++) {
            joined[i] = join(mine[i], more[i], bits - BITS);
            is_one = is_one && joined[i] == mine[i];
            is_other = is_other && joined[i] == more[i];
        }
        if (is_one || is_other) return is_one ? one : other;
        auto branch = new Branch();
        branch->parts = std::move(joined);
        return PartRef(branch);
    }

    static PartRef join(const PartRef &one, const Leaf &mine, const PartRef &other,
                        const Leaf &more) {
        if (mine.covers(more)) return one;
        if (more.covers(mine)) return other;
        auto leaf = new Leaf(mine);
        for (int warp = 0; warp < LANES; warp++)
            leaf->warps[warp] = std::max(mine.warps[warp], more.warps[warp]);
        for (const auto &[warp, each] : more.lanes) leaf->learn(warp, each->times);
        return PartRef(leaf);
    }

    PartRef root_;
    uint32_t number_ = 0;  // of the root, among the subtrees of its size
    int bits_ = 0;         // of the numbers of its leaves
};
