// Scheduler of an operating system, as Scheduler and SyncOrder of racetrap.golden_model: the
// earliest event of the running threads is next, unless it waits for a thread that does not run.
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "../thread_events.h"
#include "settings.h"

// A random number from the first to the second, both included.
using Draw = uint64_t (*)(uint64_t, uint64_t);

class Scheduler {
public:
    // The machine as the scheduler sees it; threads are put on slots.
    struct Machine {
        virtual void play(uint32_t slot, const Event &event, uint64_t number) = 0;
        virtual void switch_in(uint32_t slot, uint32_t thread) = 0;
        virtual void switch_out(uint32_t slot) = 0;
        virtual ~Machine() = default;
    };

    Scheduler(const Settings &settings, Machine &machine, Draw draw, const Event *events,
              uint64_t count)
        : settings_(&settings), machine_(&machine), draw_(draw), events_(events),
          threads_(settings.threads), running_(settings.slots, NOBODY), budget_(settings.slots) {
        for (uint64_t number = 0; number < count; number++) add(number);
        for (uint32_t thread = 0; thread < threads_.size(); thread++)
            if (!threads_[thread].events.empty()) waiting_.push_back(thread);
    }

    // Plays one event, or frees a context; false at the program's end.
    bool step() {
        if (waiting_.empty() && !runners_) return false;
        fill();
        uint32_t slot = next_.top().slot;
        if (is_ready(running_[slot])) play(slot);
        else leave(slot);
        return true;
    }

private:
    static constexpr uint32_t NOBODY = ~0u;
    // Turn of a synchronisation among the events of its object.
    struct Turn {
        uint32_t object, number;
    };
    struct Thread {
        std::vector<uint32_t> events;
        std::vector<Turn> turns;
        uint64_t event = 0, turn = 0;  // the next ones
    };
    struct Next {
        uint64_t number;
        uint32_t slot;
        bool operator>(const Next &other) const { return number > other.number; }
    };

    const Settings *settings_;
    Machine *machine_;
    Draw draw_;
    const Event *events_;
    std::vector<Thread> threads_;
    std::vector<uint32_t> running_;
    std::vector<int64_t> budget_;
    uint32_t runners_ = 0;
    std::deque<uint32_t> waiting_;
    std::priority_queue<Next, std::vector<Next>, std::greater<Next>> next_;
    std::unordered_map<uint64_t, uint32_t> objects_[5];  // by sort and name
    std::vector<uint32_t> seen_, done_;                  // events of each object
    bool is_stale_ = true;  // may a waiting thread have become ready since the last search?

    // Sort of object that an event is about; 0 orders nothing.
    static unsigned sort_of(const Event &event) {
        switch (event.kind) {
        case ACQUIRE:
        case RELEASE: return 1;
        case BARRIER_ARRIVE:
        case BARRIER_LEAVE: return 2;
        case ATOMIC_LOAD:
        case ATOMIC_STORE:
        case ATOMIC_UPDATE: return event.value & (ORDER_ACQUIRE | ORDER_RELEASE) ? 3 : 0;
        case CREATE:
        case JOIN:
        case BEGIN:
        case END: return 4;
        default: return 0;
        }
    }

    void add(uint64_t number) {
        const Event &event = events_[number];
        Thread &thread = threads_[event.thread];
        thread.events.push_back(number);
        unsigned sort = sort_of(event);
        if (!sort) return;
        // The lifecycle of a thread is an object, too.
        bool by_value = event.kind == CREATE || event.kind == JOIN;
        uint64_t name = sort < 4 ? event.address : by_value ? event.value : event.thread;
        auto [object, is_new] = objects_[sort].try_emplace(name, seen_.size());
        if (is_new) {
            seen_.push_back(0);
            done_.push_back(0);
        }
        thread.turns.push_back({object->second, seen_[object->second]++});
    }

    uint64_t number_of(uint32_t thread) const {
        return threads_[thread].events[threads_[thread].event];
    }

    bool is_ready(uint32_t number) const {
        const Thread &thread = threads_[number];
        if (!sort_of(events_[number_of(number)])) return true;
        const Turn &turn = thread.turns[thread.turn];
        return done_[turn.object] == turn.number;
    }

    void play(uint32_t slot) {
        uint32_t number = running_[slot];
        Thread &thread = threads_[number];
        uint64_t row = number_of(number);
        const Event &event = events_[row];
        machine_->play(slot, event, row);
        if (sort_of(event)) {
            done_[thread.turns[thread.turn++].object]++;
            is_stale_ = true;
        }
        if (++thread.event == thread.events.size()) return leave(slot);
        next_.pop();
        next_.push({number_of(number), slot});
        // Quanta end in traces without instruction counts, too.
        budget_[slot] -= event.instructions ? event.instructions : 1;
        if (budget_[slot] > 0) return;
        if (settings_->moves) move(slot);
        else take_turns(slot);
    }

    // Puts waiting threads that can continue on free contexts.
    void fill() {
        if (!is_stale_ || waiting_.empty() || runners_ == running_.size()) return;
        for (uint32_t slot = 0; slot < running_.size(); slot++) {
            if (running_[slot] != NOBODY) continue;
            uint32_t thread = first_ready();
            if (thread == NOBODY) break;
            switch_in(slot, thread);
        }
        is_stale_ = false;
        sort();
    }

    // Takes the thread that has waited longest of those that can continue.
    uint32_t first_ready() {
        auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](uint32_t thread) { return is_ready(thread); });
        if (found == waiting_.end()) return NOBODY;
        uint32_t thread = *found;
        waiting_.erase(found);
        return thread;
    }

    // Frees the context of the earliest thread, which waits or has come to its end.
    void leave(uint32_t slot) {
        next_.pop();
        uint32_t thread = running_[slot];
        switch_out(slot);
        if (threads_[thread].event < threads_[thread].events.size()) waiting_.push_back(thread);
        is_stale_ = true;
    }

    // End of a quantum: another thread runs next, if one can continue.
    void take_turns(uint32_t slot) {
        uint32_t thread = running_[slot], other = first_ready();
        if (other == NOBODY) {
            budget_[slot] = new_budget();
            return;
        }
        switch_out(slot);
        waiting_.push_back(thread);
        switch_in(slot, other);
        sort();
    }

    // End of a quantum: the thread swaps slots with another.
    void move(uint32_t slot) {
        if (running_.size() == 1) {
            budget_[slot] = new_budget();
            return;
        }
        uint32_t other = draw_(0, running_.size() - 2);
        other += other >= slot;
        uint32_t thread = running_[slot], displaced = running_[other];
        switch_out(slot);
        if (displaced != NOBODY) {
            switch_out(other);
            switch_in(slot, displaced);
        }
        switch_in(other, thread);
        sort();
    }

    void sort() {
        next_ = {};
        for (uint32_t slot = 0; slot < running_.size(); slot++)
            if (running_[slot] != NOBODY) next_.push({number_of(running_[slot]), slot});
    }

    // Instructions of a quantum: from half to one and a half of the mean.
    int64_t new_budget() {
        uint64_t quantum = settings_->quantum;
        return draw_((quantum + 1) / 2, quantum + quantum / 2);
    }

    void switch_in(uint32_t slot, uint32_t thread) {
        running_[slot] = thread;
        runners_++;
        budget_[slot] = new_budget();
        machine_->switch_in(slot, thread);
    }

    void switch_out(uint32_t slot) {
        running_[slot] = NOBODY;
        runners_--;
        machine_->switch_out(slot);
    }
};

#endif
