// Release and acquire patterns: what writes release, who observes them, and what is still open.
// The same as messages.py and acquisitions.py in tests/support/ptx_oracle.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "warps.h"

struct Access {
    Time row;
    int warp;
    uint32_t pc;
    uint8_t lane;
    uint8_t event;  // kind of its event

    bool is_of_thread(const Access &other) const {
        return warp == other.warp && lane == other.lane;
    }
};

// Knowledge at a fence or operation; later releases publish it.
class Fence : public Counted {
public:
    Fence(const Clock &clock, const Place &place, Time now)
        : clock_(clock), place_(place), now_(now) {}

    const Known &known(Joins &joins) const {
        if (!known_) known_ = clock_.publish(place_, now_, joins);
        return known_;
    }

    // The same of a warp at a fence that is alike.
    Known known(int warp, Joins &joins) const {
        if (warp == place_.warp) return known(joins);
        Place place = place_;
        place.warp = warp;
        return clock_.publish(place, now_, joins);
    }

    // Whether one of another warp of the block, at the same event, differs by its warp alone.
    bool is_alike(const Fence &other) const {
        return now_ == other.now_ && place_.block == other.place_.block &&
               clock_.is_alike(other.clock_);
    }

private:
    Clock clock_;
    Place place_;  // its warp may have ended
    Time now_;
    mutable Known known_;
};

using FenceRef = Ref<const Fence>;

// Knowledge by number of a block; what two have in common is stored once.
class KnownByBlock {
public:
    Known at(int block) const {
        size_t number = block / CHUNK;
        const Chunk *chunk = number < chunks_.size() ? chunks_[number].get() : nullptr;
        return chunk ? chunk->known[block % CHUNK] : Known();
    }

    void add(int block, const Known &known, Joins &joins) {
        Known &own = of(block);
        own = joins.join(known, own);
    }

    void add(const KnownByBlock &other, Joins &joins) {
        if (chunks_.size() < other.chunks_.size()) chunks_.resize(other.chunks_.size());
        for (size_t i = 0; i < other.chunks_.size(); i++) {
            const Ref<const Chunk> &more = other.chunks_[i];
            if (!more || chunks_[i] == more) continue;
            if (!chunks_[i]) {
                chunks_[i] = more;
                continue;
            }
            for (int place = 0; place < CHUNK; place++)
                if (more->known[place]) {
                    Known &own = of(i * CHUNK + place);
                    own = joins.join(own, more->known[place]);
                }
        }
    }

private:
    static constexpr int CHUNK = 16;
    struct Chunk : Counted {
        std::array<Known, CHUNK> known;
    };

    Known &of(int block) {
        if (chunks_.size() <= (size_t)block / CHUNK) chunks_.resize(block / CHUNK + 1);
        Ref<const Chunk> &chunk = chunks_[block / CHUNK];
        if (!chunk || chunk->is_shared())
            chunk = Ref<const Chunk>(chunk ? new Chunk(*chunk) : new Chunk());
        return const_cast<Chunk &>(*chunk).known[block % CHUNK];
    }

    std::vector<Ref<const Chunk>> chunks_;
};

// Knowledge that release patterns have attached to a write, by what their scope includes.
class Released : public Counted {
public:
    // What a thread acquires, by a scope of some reach.
    Known to(const Place &place, Reach reach, Joins &joins) const {
        Known known = blocks_.at(place.block);
        if (reach >= IN_CLUSTER) known = joins.join(known, clusters_.at(place.cluster));
        return reach == ON_DEVICE ? joins.join(known, for_all_) : known;
    }

    // Adds what a thread at a place releases to those at a distance.
    void release(const Place &place, const Known &known, Reach distance, Joins &joins) {
        switch (distance) {
        case IN_BLOCK: return blocks_.add(place.block, known, joins);
        case IN_CLUSTER: return clusters_.add(place.cluster, known, joins);
        case ON_DEVICE: for_all_ = joins.join(known, for_all_);
        }
    }

    void add(const Released &other, Joins &joins) {
        for_all_ = joins.join(for_all_, other.for_all_);
        blocks_.add(other.blocks_, joins);
        clusters_.add(other.clusters_, joins);
    }

private:
    Known for_all_;
    KnownByBlock blocks_, clusters_;
};

using ReleasedRef = Ref<const Released>;  // none: nothing was released

// A write that others may observe.
struct Message : Counted {
    // A store of the same thread that a volatile one comes right behind.
    struct Overwritten {
        uint32_t pc;
        ReleasedRef released;
    };

    Access access;
    uint32_t kind;  // what it is, by its number
    int block;
    uint64_t start;
    ReleasedRef released;
    std::vector<Access> observers;  // the first read of each thread counts
    Ref<Message> successor;         // the atomic that observes it and hands it on
    // For a volatile store: the stores of its thread right before it, one after the other; of
    // each program counter the latest.
    std::vector<Overwritten> overwritten;
    // The access that last asked whether an observer is in its past, and the answer.
    uint64_t asked = 0;
    bool is_observed = false;

    Message(const Access &access, uint32_t kind, int block, uint64_t start,
            const ReleasedRef &released)
        : access(access), kind(kind), block(block), start(start), released(released) {}

    // A long chain must not be deleted one inside the other.
    ~Message() {
        while (successor && !successor->is_shared()) {
            Ref<Message> next = std::move(successor->successor);
            successor = std::move(next);
        }
    }

    void overwrite(const Message &last) {
        auto differs = [](uint32_t pc) {
            return [pc](const Overwritten &each) { return each.pc != pc; };
        };
        std::copy_if(last.overwritten.begin(), last.overwritten.end(),
                     std::back_inserter(overwritten), differs(last.access.pc));
        overwritten.push_back({last.access.pc, last.released});
        std::erase_if(overwritten, std::not_fn(differs(access.pc)));
    }

    void observe(const Access &read) {
        if (!observers.empty() && observers.back().is_of_thread(read)) return;
        if (observers.size() > limit_) keep_first_of_each_thread();
        observers.push_back(read);
    }

    // Takes over the observers of successors that nothing else refers to.
    void shorten() {
        while (successor && !successor->is_shared()) {
            for (const Access &each : successor->observers) observe(each);
            Ref<Message> next = std::move(successor->successor);
            successor = std::move(next);
        }
    }

private:
    void keep_first_of_each_thread() {
        std::set<std::pair<int, int>> seen;
        std::erase_if(observers, [&](const Access &each) {
            return !seen.insert({each.warp, each.lane}).second;
        });
        limit_ = 2 * observers.size() + LANES;
    }

    size_t limit_ = LANES;
};

using MessageRef = Ref<Message>;

// Open patterns of a warp, or of a thread as a warp of one lane.
class OpenPatterns {
public:
    using Location = std::pair<uint64_t, unsigned>;  // with the memory apart, and size

    // The last release fence of a lane for each reach, or a farther one.
    using Fences = std::array<FenceRef, ON_DEVICE + 1>;

    OpenPatterns(int lanes, const Place &place)
        : place_(place), fences_(lanes), observed_(lanes) {}

    void release_fence(uint32_t lanes, const FenceRef &fence, Reach reach) {
        for (; lanes; lanes &= lanes - 1)
            for (int each = IN_BLOCK; each <= reach; each++)
                fences_[__builtin_ctz(lanes)][each] = fence;
    }

    void release_operation(int lane, Location location, const ReleasedRef &released) {
        operations_[{lane, location}] = released;
    }

    const Fences &fences(int lane) const { return fences_[lane]; }

    ReleasedRef operation(int lane, Location location) const {
        if (operations_.empty()) return {};
        auto found = operations_.find({lane, location});
        return found == operations_.end() ? ReleasedRef() : found->second;
    }

    void observe(int lane, Location location, uint32_t pc, const Message *message,
                 bool is_volatile, Joins &joins) {
        const Released &released = *message->released;
        // What the stores before it by its thread have released, it has released, too.
        if (!released.to(place_, ON_DEVICE, joins)) return;
        Observed &observed = of(observed_[lane][location], {message->access.pc, pc}, is_volatile);
        const Access &last = message->access;
        if (observed.last.row == last.row && observed.last.is_of_thread(last)) return;
        observed.last = last;
        observed.add(released, place_, joins);
        for (const Message::Overwritten &each : message->overwritten)
            if (each.released)
                of(observed.overlooked, {each.pc, pc}, true).add(*each.released, place_, joins);
    }

    // What a lane acquires at a fence, joined with the given knowledge.
    template <class Past>
    Known acquire(int lane, Reach reach, Known known, const Known &far, Past past,
                  std::set<PcPair> &synchronised, Joins &joins) {
        found_.clear();
        for (auto &[location, patterns] : observed_[lane]) collect(patterns, reach);
        if (reach == ON_DEVICE) observed_[lane].clear();
        return acquired(known, far, past, synchronised, joins);
    }

    // The same at an operation on a location.
    template <class Past>
    Known acquire_at(int lane, Location location, Reach reach, const Known &far, Past past,
                     std::set<PcPair> &synchronised, Joins &joins) {
        auto patterns = observed_[lane].find(location);
        if (patterns == observed_[lane].end()) return Known();
        found_.clear();
        collect(patterns->second, reach);
        return acquired(Known(), far, past, synchronised, joins);
    }

private:
    struct Observed {
        PcPair pair;
        bool is_volatile;  // one of the two accesses
        std::array<Known, ON_DEVICE + 1> known;  // by the reach of what acquires it
        // Whether its thread has not acquired all of it, by reach: what it has, it does not lose.
        std::array<bool, ON_DEVICE + 1> is_new;
        Access last;  // write that was observed
        // What the read would have observed if it had come before the write.
        std::vector<Observed> overlooked;

        void add(const Released &released, const Place &place, Joins &joins) {
            for (Reach reach : {IN_BLOCK, IN_CLUSTER, ON_DEVICE}) {
                Known joined = joins.join(known[reach], released.to(place, reach, joins));
                is_new[reach] |= joined != known[reach];
                known[reach] = std::move(joined);
            }
        }
    };
    struct Acquired {
        PcPair pair;
        Known known;
        bool is_volatile;
        std::vector<Acquired> overlooked;
    };

    static Observed &of(std::vector<Observed> &patterns, PcPair pair, bool is_volatile) {
        for (Observed &each : patterns)
            if (each.pair == pair) return each;
        return patterns.emplace_back(Observed{pair, is_volatile, {}, {}, {-1, -1, 0, 0, 0}, {}});
    }

    void collect(std::vector<Observed> &patterns, Reach reach) {
        for (Observed &each : patterns) {
            if (!each.is_new[reach]) continue;
            std::fill_n(each.is_new.begin(), reach + 1, false);
            Acquired &acquired =
                found_.emplace_back(Acquired{each.pair, each.known[reach], each.is_volatile, {}});
            for (const Observed &other : each.overlooked)
                acquired.overlooked.push_back(
                    {other.pair, other.known[reach], true, {}});
        }
    }

    // What is found, joined with the given knowledge; `far` is a part of the thread's past.
    template <class Past>
    Known acquired(Known known, const Known &far, Past past, std::set<PcPair> &synchronised,
                   Joins &joins) {
        for (const Acquired &each : found_) {
            known = joins.join(known, each.known);
            if (!each.is_volatile) synchronised.insert(each.pair);
        }
        auto tells = [](const Acquired &one, const Known &other) {
            return !one.is_volatile && Knowledge::covers(one.known, other);
        };
        auto is_settled = [&](const Acquired &one) {
            return synchronised.count(one.pair) || Knowledge::covers(far, one.known) ||
                   std::ranges::any_of(found_, [&](auto &each) { return tells(each, one.known); });
        };
        for (const Acquired &each : found_)
            if (!is_settled(each) || !std::ranges::all_of(each.overlooked, is_settled)) {
                synchronise(past(), synchronised, joins);
                break;
            }
        return known;
    }

    // Notes the pairs with a volatile access that make known what neither the past nor other
    // pairs do, and of which no pair makes known more; and with them the stores, overwritten before
    // the read, that would have been such pairs.
    void synchronise(Known base, std::set<PcPair> &synchronised, Joins &joins) {
        for (const Acquired &each : found_)
            if (!each.is_volatile) base = joins.join(base, each.known);
        auto counts = [&](const Acquired &one, auto is_other) {
            if (Knowledge::covers(base, one.known)) return false;
            for (const Acquired &other : found_)
                if (other.is_volatile && is_other(other) && tells_more(base, other, one, joins))
                    return false;
            return true;
        };
        for (const Acquired &each : found_) {
            if (!each.is_volatile || !counts(each, [](const Acquired &) { return true; })) continue;
            synchronised.insert(each.pair);
            auto is_apart = [&](const Acquired &other) {
                return other.pair.write != each.pair.write;
            };
            for (const Acquired &other : each.overlooked)
                if (counts(other, is_apart)) synchronised.insert(other.pair);
        }
    }

    static bool tells_more(const Known &base, const Acquired &one, const Acquired &other,
                           Joins &joins) {
        Known by_one = joins.join(base, one.known), by_other = joins.join(base, other.known);
        return Knowledge::covers(by_one, other.known) && !Knowledge::covers(by_other, one.known);
    }

    Place place_;
    std::vector<Acquired> found_;  // of the current fence or operation
    std::vector<Fences> fences_;  // by lane
    std::map<std::pair<int, Location>, ReleasedRef> operations_;
    std::vector<std::map<Location, std::vector<Observed>>> observed_;  // by lane
};
