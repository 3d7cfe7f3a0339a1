// Rules of traces of threads (6 to 34), in one pass: whether all of them hold.  Which one is broken,
// and where, says racetrap.golden_model.trace.threads.rules, which is the specification.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "thread_events.h"

namespace {

constexpr uint8_t MOST_BYTES = 16;

// What is known of a thread; of its barriers and locks, the objects know.
struct Thread {
    bool is_created, is_begun, is_ended, is_joined, is_off;
};

struct Lock {
    uint32_t writers = 0, readers = 0;
    std::unordered_map<uint32_t, uint32_t> held[2];  // by thread: as a writer, as a reader
};

struct Barrier {
    uint64_t width = 0, arrivals = 0;
    std::unordered_map<uint16_t, uint64_t> inside;  // number of the arrival of each thread
};

class Rules {
public:
    explicit Rules(uint32_t threads) : threads_(threads) { threads_[0].is_created = true; }

    bool holds(const Event &event) {
        if (event.thread >= threads_.size()) return false;
        Thread &thread = threads_[event.thread];
        // An event of a thread comes after its begin, and before its end.
        if (thread.is_ended || (!thread.is_begun && event.kind != BEGIN)) return false;
        switch (event.kind) {
        case LOAD:
        case STORE:
        case ATOMIC_LOAD:
        case ATOMIC_STORE:
        case ATOMIC_UPDATE: return has_size(event);
        case ACQUIRE:
        case RELEASE:
            return event.size <= (event.kind == ACQUIRE) && event.value < CLASSES &&
                   (event.value > RWLOCK_WRITE || locks(event));
        case BARRIER_ARRIVE:
        case BARRIER_LEAVE: return !event.size && crosses(event);
        case CREATE:
            return is_bare(event) && event.value && event.value < threads_.size() &&
                   first(threads_[event.value].is_created);
        case BEGIN:
            return is_bare(event) && !event.value && thread.is_created && first(thread.is_begun);
        case END: return is_bare(event) && !event.value && first(thread.is_ended);
        case JOIN:
            return is_bare(event) && event.value < threads_.size() &&
                   threads_[event.value].is_ended && first(threads_[event.value].is_joined);
        case ALLOCATE: return !event.size;
        case FREE: return !event.size && !event.value;
        case COLLECT_OFF:
        case COLLECT_ON: {
            bool was_off = thread.is_off;
            thread.is_off = event.kind == COLLECT_OFF;
            return is_bare(event) && !event.value && was_off != thread.is_off;
        }
        default: return false;
        }
    }

private:
    std::vector<Thread> threads_;
    std::unordered_map<uint64_t, Lock> locks_[2];  // others, mutexes
    std::unordered_map<uint64_t, Barrier> barriers_;

    static bool first(bool &is_done) {
        bool was_done = is_done;
        is_done = true;
        return !was_done;
    }

    static bool is_bare(const Event &event) { return !event.address && !event.size; }

    static bool has_size(const Event &event) {
        uint8_t more = event.size - 1;
        return more < MOST_BYTES && event.address <= ~0ull - more;
    }

    bool locks(const Event &event) {
        Lock &lock = locks_[event.value == MUTEX][event.address];
        bool reads = event.value == RWLOCK_READ;
        uint32_t &all = reads ? lock.readers : lock.writers, &own = lock.held[reads][event.thread];
        if (event.kind == RELEASE) {
            if (!own) return false;
            own--;
            all--;
            return true;
        }
        if (lock.writers || (!reads && lock.readers)) return false;
        own++;
        all++;
        return true;
    }

    bool crosses(const Event &event) {
        Barrier &barrier = barriers_[event.address];
        if (!barrier.width) barrier.width = event.value;
        if (!event.value || event.value != barrier.width) return false;
        uint64_t &arrival = barrier.inside[event.thread];
        if (event.kind == BARRIER_ARRIVE) {
            if (arrival) return false;
            arrival = ++barrier.arrivals;
            return true;
        }
        // It leaves when the last one of its crossing has arrived.
        uint64_t last = (arrival + barrier.width - 1) / barrier.width * barrier.width;
        if (!arrival || barrier.arrivals < last) return false;
        arrival = 0;
        return true;
    }
};

}  // namespace

extern "C" bool racetrap_rules_hold(const Event *events, uint64_t count, uint32_t threads) {
    Rules rules(threads);
    for (uint64_t i = 0; i < count; i++)
        if (!rules.holds(events[i])) return false;
    return true;
}
