// Exact detector of races between threads, in one pass over the events of a trace: the same pairs
// of instructions as the happens-before oracle of the golden model, without all their instances.
//
// Of each instruction of each thread, the last epoch in which it accessed a granule is enough: if
// that is ordered before a later access, so are the epochs before.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sync_objects.h"
#include "thread_events.h"

namespace {

// Vector clocks of threads.
class Clocks {
public:
    explicit Clocks(uint32_t threads) : now(threads, Clock(threads)) {}

    std::vector<Clock> now;

    void event(const Event &event) {
        Clock &clock = now[event.thread];
        if (releases(event)) {
            clock[event.thread]++;
            objects_.release(event, clock);
        }
        if (acquires(event)) {
            clock[event.thread]++;
            objects_.acquire(event, clock);
        }
    }

private:
    SyncObjects objects_;
};

// What an instruction of a thread does to the same bytes of a cell, and when it did so last.
struct Access {
    uint32_t pc, epoch;
    uint16_t thread;
    uint8_t bytes;  // a bit for each
    uint8_t flags;

    // Whether only the epoch may differ.
    bool is_like(const Access &other) const {
        return pc == other.pc && thread == other.thread && bytes == other.bytes &&
               flags == other.flags;
    }
};
enum Flags : uint8_t { WRITES = 1, IS_ATOMIC = 2 };

// Accesses of all cells: those of a cell lie together, in a block of 1, 2, 4 ... of one array.
class Blocks {
public:
    struct Block {
        uint32_t at, count : 26, log2 : 5, is_there : 1;
    };

    Access *of(const Block &block) { return accesses_.data() + block.at; }

    void add(Block &block, const Access &access) {
        if (!block.is_there) {
            block = {allocate(0), 0, 0, 1};
        } else if (block.count == 1u << block.log2) {
            Block larger = {allocate(block.log2 + 1), block.count, block.log2 + 1u, 1};
            std::copy_n(of(block), block.count, of(larger));
            free_[block.log2].push_back(block.at);
            block = larger;
        }
        of(block)[block.count++] = access;
    }

    void clear(Block &block) {
        if (block.is_there) free_[block.log2].push_back(block.at);
        block = {};
    }

private:
    std::vector<Access> accesses_;
    std::array<std::vector<uint32_t>, 32> free_;

    uint32_t allocate(unsigned log2) {
        uint32_t at = accesses_.size();
        if (free_[log2].empty()) {
            accesses_.resize(at + (1u << log2));
        } else {
            at = free_[log2].back();
            free_[log2].pop_back();
        }
        return at;
    }
};

constexpr unsigned CELL_LOG2 = 3;  // bytes of a cell, two granules
constexpr unsigned PAGE_LOG2 = 10;  // cells of a page
constexpr unsigned RECENT_LOG2 = 15;
using Page = std::array<Blocks::Block, 1u << PAGE_LOG2>;

class Detector {
public:
    explicit Detector(uint32_t threads)
        : clocks_(threads), off_(threads), recent_(1u << RECENT_LOG2) {}

    // Takes events until there are more than `pairs` pairs; returns how many it has taken.
    uint64_t run(const Event *events, uint64_t count, uint64_t pairs) {
        for (uint64_t taken = 0; taken < count;) {
            take(events[taken++]);
            if (races_.size() > pairs) return taken;
        }
        return count;
    }

    std::vector<Pair> pairs() const {
        std::vector<Pair> found;
        for (const auto &[key, race] : races_) {
            found.push_back(race.first);
            found.back().addresses = race.granules.size();
        }
        return found;
    }

private:
    struct Race {
        Pair first;
        std::unordered_set<uint64_t> granules;
    };

    Clocks clocks_;
    std::vector<uint32_t> off_;
    struct Recent {
        uint64_t cell = ~0ull;
        uint32_t generation;
        Access access;
    };

    Blocks blocks_;
    std::vector<Recent> recent_;  // an access by hash, which need not be compared again
    uint32_t generation_ = 0;     // increases with each event that invalidates all of those
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    uint64_t page_number_ = ~0ull;
    Page *page_ = nullptr;
    std::unordered_map<uint64_t, Race> races_;

    void take(const Event &event) {
        switch (event.kind) {
        case LOAD: access(event, 0); break;
        case STORE: access(event, WRITES); break;
        case ATOMIC_LOAD:
        case ATOMIC_STORE:
        case ATOMIC_UPDATE: atomic(event); break;
        case ALLOCATE: renew(event.address, event.value); break;
        case FREE: break;
        case COLLECT_OFF: off_[event.thread]++; break;
        case COLLECT_ON: off_[event.thread]--; break;
        default: clocks_.event(event);
        }
    }

    // What an atomic access releases does not include it; what it acquires comes before it.
    void atomic(const Event &event) {
        uint32_t epoch = clocks_.now[event.thread][event.thread];
        uint8_t flags = IS_ATOMIC | (event.kind == ATOMIC_LOAD ? 0 : WRITES);
        clocks_.event(event);
        access(event, flags, epoch);
    }

    void access(const Event &event, uint8_t flags) {
        access(event, flags, clocks_.now[event.thread][event.thread]);
    }

    void access(const Event &event, uint8_t flags, uint32_t epoch) {
        if (off_[event.thread]) return;
        uint64_t last = event.address + event.size - 1;
        for (uint64_t cell = event.address >> CELL_LOG2; cell <= last >> CELL_LOG2; cell++) {
            uint64_t start = cell << CELL_LOG2;
            unsigned low = event.address > start ? event.address - start : 0;
            unsigned high = last < start + 7 ? last - start : 7;
            uint8_t bytes = (2u << high) - (1u << low);
            touch(cell, {event.pc, epoch, event.thread, bytes, flags});
        }
    }

    Blocks::Block &block_of(uint64_t cell) {
        uint64_t number = cell >> PAGE_LOG2;
        if (number != page_number_) {
            auto &page = pages_[number];
            if (!page) page = std::make_unique<Page>();
            page_number_ = number;
            page_ = page.get();
        }
        return (*page_)[cell & ((1u << PAGE_LOG2) - 1)];
    }

    Recent &recent(uint64_t cell, const Access &access) {
        uint64_t hash = (cell * 64 + access.thread) * 0x9e3779b97f4a7c15u ^
                        (access.pc + access.bytes * 0x1000193u) * 0xbf58476d1ce4e5b9u;
        return recent_[hash >> (64 - RECENT_LOG2)];
    }

    void touch(uint64_t cell, const Access &access) {
        Recent &known = recent(cell, access);
        // Others that came after it in this epoch have been compared with it.
        if (known.cell == cell && known.generation == generation_ &&
            known.access.epoch == access.epoch && known.access.is_like(access) &&
            !(access.flags & IS_ATOMIC))
            return;
        known = {cell, generation_, access};
        Blocks::Block &block = block_of(cell);
        const Clock &clock = clocks_.now[access.thread];
        Access *own = nullptr, *first = blocks_.of(block);
        for (Access *other = first; other != first + block.count; other++) {
            if (other->thread == access.thread) {
                if (other->is_like(access)) own = other;
            } else if (other->epoch >= clock[other->thread] && other->bytes & access.bytes &&
                       (other->flags | access.flags) & WRITES &&
                       !(other->flags & access.flags & IS_ATOMIC)) {
                report(cell, *other, access);
            }
        }
        if (own) own->epoch = access.epoch;
        else blocks_.add(block, access);
    }

    void report(uint64_t cell, const Access &one, const Access &other) {
        uint64_t low = std::min(one.pc, other.pc), high = std::max(one.pc, other.pc);
        auto [race, is_new] = races_.try_emplace(low << 32 | high);
        uint64_t granule = cell << 1;
        unsigned bytes = one.bytes & other.bytes;
        if (bytes & 0x0f) race->second.granules.insert(granule);
        if (bytes & 0xf0) race->second.granules.insert(granule + 1);
        if (!is_new) return;
        race->second.first = {
            (granule + !(bytes & 0x0f)) << 2, 0, {one.thread, other.thread},
            {one.epoch, other.epoch}, {one.pc, other.pc}, {one.flags & 1u, other.flags & 1u},
        };
    }

    // Allocated memory has no earlier accesses: whole granules of it.
    void renew(uint64_t address, uint64_t bytes) {
        uint64_t first = address >> 2, end = (address + bytes + 3) >> 2;
        generation_++;
        for (uint64_t cell = first >> 1; cell < (end + 1) >> 1;) {
            uint64_t next = (cell >> PAGE_LOG2 << PAGE_LOG2) + (1u << PAGE_LOG2);
            if (!pages_.contains(cell >> PAGE_LOG2)) {
                cell = next;
                continue;
            }
            for (; cell < std::min(next, (end + 1) >> 1); cell++) {
                unsigned kept = (cell << 1 < first ? 0x0f : 0) | ((cell << 1) + 1 >= end ? 0xf0 : 0);
                forget(block_of(cell), kept);
            }
        }
    }

    // Forgets a cell's accesses, except to bytes that are kept.
    void forget(Blocks::Block &block, uint8_t kept) {
        if (!kept) return blocks_.clear(block);
        Access *first = blocks_.of(block), *end = first + block.count;
        for (Access *access = first; access != end; access++) access->bytes &= kept;
        end = std::remove_if(first, end, [](const Access &access) { return !access.bytes; });
        block.count = end - first;
    }
};

}  // namespace

extern "C" {

void *racetrap_exact_new(uint32_t threads) { return new Detector(threads); }

uint64_t racetrap_exact_run(void *detector, const Event *events, uint64_t count, uint64_t pairs) {
    return static_cast<Detector *>(detector)->run(events, count, pairs);
}

// Returns the number of pairs; copies them if there is room for all.
uint64_t racetrap_exact_pairs(void *detector, Pair *target, uint64_t room) {
    std::vector<Pair> found = static_cast<Detector *>(detector)->pairs();
    if (found.size() <= room) std::copy(found.begin(), found.end(), target);
    return found.size();
}

void racetrap_exact_delete(void *detector) { delete static_cast<Detector *>(detector); }
}
