// Exact detector of races between threads, in one pass over the events of a trace: the same pairs
// of instructions as the happened-before oracle of the golden model, without all their instances.
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

namespace {

// As THREAD_DTYPE in racetrap.golden_model.trace.threads.schema.
struct Event {
    uint64_t address;
    uint32_t pc, value, instructions;
    uint16_t thread;
    uint8_t kind, size;
};
static_assert(sizeof(Event) == 24);

// As ThreadEventKind and SyncClass in racetrap.golden_model.trace.threads.events.
enum Kind : uint8_t {
    LOAD, STORE, ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_UPDATE, ACQUIRE, RELEASE, BARRIER_ARRIVE,
    BARRIER_LEAVE, CREATE, BEGIN, END, JOIN, ALLOCATE, FREE, COLLECT_OFF, COLLECT_ON,
};
enum SyncClass : uint32_t { MUTEX, RWLOCK_READ, RWLOCK_WRITE };
enum Order : uint32_t { ACQUIRES = 1, RELEASES = 2 };

// As _PAIR_DTYPE in exact_detector.py.
struct Pair {
    uint64_t address, addresses;
    uint32_t threads[2], epochs[2], pcs[2], writes[2];
};

using Clock = std::vector<uint32_t>;

void learn(Clock &clock, const Clock &other) {
    for (size_t i = 0; i < clock.size(); i++) clock[i] = std::max(clock[i], other[i]);
}

// Synchronisation objects are told apart by what they are, their address, and a number.
struct Name {
    uint64_t address;
    uint32_t type, number;
    bool operator==(const Name &other) const = default;
};

struct NameHash {
    size_t operator()(const Name &name) const {
        uint64_t mixed = (name.address ^ (uint64_t)name.type << 56) * 0x9e3779b97f4a7c15u;
        return (mixed ^ mixed >> 29) + name.number * 0xbf58476d1ce4e5b9u;
    }
};

enum Type : uint32_t { OBJECT, WRITERS = 16, READERS, CREATED, ENDED, ATOMIC, CROSSING };

// Vector clocks of threads and synchronisation objects.
class Clocks {
public:
    explicit Clocks(uint32_t threads) : now(threads, Clock(threads)) {}

    std::vector<Clock> now;

    void event(const Event &event) {
        uint32_t thread = event.thread;
        uint64_t address = event.address;
        switch (event.kind) {
        case ACQUIRE: acquire(thread, address, event.value); break;
        case RELEASE: release(thread, address, event.value); break;
        case BARRIER_ARRIVE: {
            uint32_t crossing = arrivals_[address]++ / event.value;
            crossings_[{address, 0, thread}] = crossing;
            give(thread, {address, CROSSING, crossing});
            break;
        }
        case BARRIER_LEAVE:
            take(thread, {{address, CROSSING, crossings_[{address, 0, thread}]}});
            break;
        case CREATE: give(thread, {0, CREATED, event.value}); break;
        case BEGIN:
            if (thread) take(thread, {{0, CREATED, thread}});
            break;
        case END: give(thread, {0, ENDED, thread}); break;
        case JOIN: take(thread, {{0, ENDED, event.value}}); break;
        default: break;
        }
    }

    void give_atomic(uint32_t thread, uint64_t address) { give(thread, {address, ATOMIC, 0}); }
    void take_atomic(uint32_t thread, uint64_t address) { take(thread, {{address, ATOMIC, 0}}); }

private:
    std::unordered_map<Name, Clock, NameHash> objects_;
    std::unordered_map<uint64_t, uint32_t> arrivals_;
    std::unordered_map<Name, uint32_t, NameHash> crossings_;

    void give(uint32_t thread, Name name, bool overwrite = false) {
        Clock &clock = now[thread];
        clock[thread]++;
        auto [object, is_new] = objects_.try_emplace(name, clock);
        if (is_new) return;
        if (overwrite) object->second = clock;
        else learn(object->second, clock);
    }

    void take(uint32_t thread, std::initializer_list<Name> names) {
        Clock &clock = now[thread];
        clock[thread]++;
        for (const Name &name : names)
            if (auto object = objects_.find(name); object != objects_.end())
                learn(clock, object->second);
    }

    void acquire(uint32_t thread, uint64_t address, uint32_t sync_class) {
        if (sync_class == RWLOCK_WRITE) take(thread, {{address, WRITERS, 0}, {address, READERS, 0}});
        else if (sync_class == RWLOCK_READ) take(thread, {{address, WRITERS, 0}});
        else take(thread, {{address, OBJECT, sync_class}});
    }

    void release(uint32_t thread, uint64_t address, uint32_t sync_class) {
        if (sync_class == RWLOCK_WRITE) give(thread, {address, WRITERS, 0}, true);
        else if (sync_class == RWLOCK_READ) give(thread, {address, READERS, 0});
        else give(thread, {address, OBJECT, sync_class}, sync_class == MUTEX);
    }
};

// What an instruction of a thread does to the same bytes of a granule, and when it did so last.
struct Access {
    uint64_t granule;
    uint32_t pc, epoch, next;
    uint16_t thread;
    uint8_t bytes;   // a bit for each
    uint8_t flags;
};
enum Flags : uint8_t { WRITES = 1, IS_ATOMIC = 2, IS_GONE = 4 };

constexpr unsigned PAGE_LOG2 = 10;  // granules of a page
constexpr unsigned RECENT_LOG2 = 16;
using Page = std::array<uint32_t, 1u << PAGE_LOG2>;  // first access of each granule's list, or 0

class Detector {
public:
    explicit Detector(uint32_t threads) : clocks_(threads), off_(threads), accesses_(1), recent_(1u << RECENT_LOG2) {}

    void run(const Event *events, uint64_t count) {
        for (const Event *event = events; event != events + count; event++) take(*event);
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
    std::vector<Access> accesses_;  // the first one stands for none
    std::vector<uint32_t> recent_;  // an access by hash, so that a list need not be searched
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
        if (event.kind != ATOMIC_LOAD && event.value & RELEASES)
            clocks_.give_atomic(event.thread, event.address);
        if (event.kind != ATOMIC_STORE && event.value & ACQUIRES)
            clocks_.take_atomic(event.thread, event.address);
        access(event, flags, epoch);
    }

    void access(const Event &event, uint8_t flags) {
        access(event, flags, clocks_.now[event.thread][event.thread]);
    }

    void access(const Event &event, uint8_t flags, uint32_t epoch) {
        if (off_[event.thread]) return;
        uint64_t last = event.address + event.size - 1;
        for (uint64_t granule = event.address >> 2; granule <= last >> 2; granule++) {
            uint64_t start = granule << 2;
            unsigned low = event.address > start ? event.address - start : 0;
            unsigned high = last < start + 3 ? last - start : 3;
            uint8_t bytes = (2u << high) - (1u << low);
            touch({granule, event.pc, epoch, 0, event.thread, bytes, flags});
        }
    }

    uint32_t *head(uint64_t granule) {
        uint64_t number = granule >> PAGE_LOG2;
        if (number != page_number_) {
            auto &page = pages_[number];
            if (!page) page = std::make_unique<Page>();
            page_number_ = number;
            page_ = page.get();
        }
        return &(*page_)[granule & ((1u << PAGE_LOG2) - 1)];
    }

    static bool is_same(const Access &one, const Access &other) {
        return one.granule == other.granule && one.pc == other.pc && one.thread == other.thread &&
               one.bytes == other.bytes && one.flags == other.flags;
    }

    void touch(const Access &access) {
        uint64_t hash = (access.granule * 64 + access.thread) * 0x9e3779b97f4a7c15u ^
                        (access.pc + access.bytes * 0x1000193u) * 0xbf58476d1ce4e5b9u;
        uint32_t &recent = recent_[hash >> (64 - RECENT_LOG2)];
        // Others that came after it in this epoch have been compared with it.
        if (is_same(accesses_[recent], access) && accesses_[recent].epoch == access.epoch &&
            !(access.flags & IS_ATOMIC))
            return;
        uint32_t *first = head(access.granule);
        const Clock &clock = clocks_.now[access.thread];
        uint32_t own = 0;
        for (uint32_t number = *first; number; number = accesses_[number].next) {
            const Access &other = accesses_[number];
            if (other.thread == access.thread) {
                if (is_same(other, access)) own = number;
            } else if (other.epoch >= clock[other.thread] && other.bytes & access.bytes &&
                       (other.flags | access.flags) & WRITES &&
                       !(other.flags & access.flags & IS_ATOMIC)) {
                report(other, access);
            }
        }
        if (own) {
            accesses_[own].epoch = access.epoch;
        } else {
            own = accesses_.size();
            accesses_.push_back(access);
            accesses_[own].next = *first;
            *first = own;
        }
        recent = own;
    }

    void report(const Access &one, const Access &other) {
        uint64_t low = std::min(one.pc, other.pc), high = std::max(one.pc, other.pc);
        auto [race, is_new] = races_.try_emplace(low << 32 | high);
        race->second.granules.insert(one.granule);
        if (!is_new) return;
        race->second.first = {
            one.granule << 2, 0, {one.thread, other.thread}, {one.epoch, other.epoch},
            {one.pc, other.pc}, {one.flags & 1u, other.flags & 1u},
        };
    }

    // Memory that is allocated anew is new.
    void renew(uint64_t address, uint64_t bytes) {
        uint64_t granule = address >> 2, end = (address + bytes + 3) >> 2;
        while (granule < end) {
            uint64_t next = std::min(end, (granule >> PAGE_LOG2 << PAGE_LOG2) + (1u << PAGE_LOG2));
            if (auto page = pages_.find(granule >> PAGE_LOG2); page != pages_.end())
                for (; granule < next; granule++) forget((*page->second)[granule & ((1u << PAGE_LOG2) - 1)]);
            granule = next;
        }
    }

    void forget(uint32_t &first) {
        for (; first; first = accesses_[first].next) accesses_[first].flags = IS_GONE;
    }
};

}  // namespace

extern "C" {

void *racetrap_exact_new(uint32_t threads) { return new Detector(threads); }

void racetrap_exact_run(void *detector, const Event *events, uint64_t count) {
    static_cast<Detector *>(detector)->run(events, count);
}

// Number of pairs; copies them if there is room for all.
uint64_t racetrap_exact_pairs(void *detector, Pair *target, uint64_t room) {
    std::vector<Pair> found = static_cast<Detector *>(detector)->pairs();
    if (found.size() <= room) std::copy(found.begin(), found.end(), target);
    return found.size();
}

void racetrap_exact_delete(void *detector) { delete static_cast<Detector *>(detector); }
}
