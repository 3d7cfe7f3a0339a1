// SigRace on a recorded program; the specification is Sigrace of racetrap.golden_model.sigrace.
#include <memory>
#include <unordered_map>

#include "rollback.h"
#include "scheduler.h"

namespace {

class Machine : public Scheduler::Machine {
public:
    Machine(const Settings &settings, const Filter *filters, const Event *events, uint64_t count)
        : settings(settings), hash(this->settings, filters), rdm(this->settings, hash),
          measures(settings.threads), checkpoint(settings.threads),
          rollback(this->settings, hash, events, count), events_(events), count_(count),
          units_(settings.cores * settings.contexts, CoreUnit(this->settings, hash)),
          clocks_(settings.threads, Clock(settings.threads)),
          collects_(settings.threads, true), reached_(settings.threads, -1) {
        for (uint64_t slot = 0; slot < settings.slots; slot++) {
            uint64_t core = slot % settings.cores, context = slot / settings.cores;
            slots_.push_back(&units_[core * settings.contexts + context]);
        }
        if (settings.is_measured) rdm.measures = &measures;
        if (settings.ring_depth) {
            rdm.when_full = [this] { handle(AT_FULL); };
            rings_.assign(units_.size(), AddressRing(settings.ring_depth, settings.ring_blocks));
        }
        for (uint32_t place = 0; place < units_.size(); place++) {
            units_[place].place = place;
            if (settings.ring_depth) units_[place].ring = &rings_[place];
        }
    }

    const Settings settings;
    const SignatureHash hash;
    Rdm rdm;
    Measures measures;
    Statistics statistics = {};
    Checkpoint checkpoint;
    Rollback rollback;

    // Begins a program whose threads stay on their cores, and one whose threads migrate.
    void begin(uint32_t threads) {
        for (uint32_t thread = 0; thread < threads; thread++) switch_in(thread, thread);
    }
    void begin(Draw draw) {
        scheduler_ = std::make_unique<Scheduler>(settings, *this, draw, events_, count_);
    }

    // Plays events of a program whose threads stay on their cores.
    void run(uint64_t first, uint64_t count) {
        for (uint64_t number = first; number < first + count; number++)
            play(events_[number].thread, events_[number], number);
    }

    // Plays some steps of the scheduler; returns whether there are more.
    bool run(uint64_t steps) {
        while (steps--)
            if (!scheduler_->step()) return false;
        return true;
    }

    void end() {
        end_blocks();
        handle(AT_END);
        end_interval();
        for (const AddressRing &ring : rings_) statistics.ring_writes += ring.written;
    }

private:
    // The two epochs of a conflict; the order in which it was found does not matter.
    struct Epochs {
        uint64_t low, high;  // each a thread and its own counter
        explicit Epochs(const LogEntry &entry)
            : Epochs(entry.thread, entry.timestamp[entry.thread], entry.other,
                     entry.other_timestamp[entry.other]) {}
        Epochs(uint32_t thread, uint32_t epoch, uint32_t other, uint32_t other_epoch)
            : low((uint64_t)thread << 32 | epoch), high((uint64_t)other << 32 | other_epoch) {
            if (high < low) std::swap(low, high);
        }
        bool operator==(const Epochs &other) const = default;
    };
    struct EpochsHash {
        size_t operator()(const Epochs &epochs) const {
            uint64_t mixed = (epochs.low ^ epochs.high << 17) * 0x9e3779b97f4a7c15u ^ epochs.high;
            return mixed ^ mixed >> 29;
        }
    };

    const Event *events_;
    uint64_t count_;
    std::unordered_map<Epochs, std::vector<Words>, EpochsHash> saved_;  // signatures analysed
    std::vector<CoreUnit> units_;
    std::vector<AddressRing> rings_;  // of each unit, if there are any
    std::vector<CoreUnit *> slots_;
    std::vector<Clock> clocks_;
    SyncObjects objects_;
    std::vector<bool> collects_;
    std::vector<int64_t> reached_;  // each thread's last event
    std::vector<Summary> ended_;
    std::unique_ptr<Scheduler> scheduler_;
    int64_t last_ = -1;
    bool is_due_ = false;

    void play(uint32_t slot, const Event &event, uint64_t number) override {
        CoreUnit &unit = *slots_[slot];
        const Clock &clock = clocks_[event.thread];
        bool is_access = event.kind <= STORE;
        bool acts = is_access || event.kind >= COLLECT_OFF || releases(event) || acquires(event);
        uint32_t left = event.instructions;
        while (left > (acts ? MAX_INSTRUCTIONS : 0)) {
            uint32_t share = std::min(left, MAX_INSTRUCTIONS);
            before(number);
            unit.take(0, 0, false, share, clock, ended_);
            after(unit, number, share);
            send();
            left -= share;
        }
        if (is_access) {
            before(number);
            unit.take(event.address, event.size, event.kind == STORE, left, clock, ended_);
            after(unit, number, left);
            send();
        } else if (event.kind >= COLLECT_OFF) {
            before(number);
            unit.commit(left);
            after(unit, number, left);
            unit.is_collecting = collects_[event.thread] = event.kind == COLLECT_ON;
        } else if (acts) {
            synchronise(unit, event, number, left);
        }
    }

    // The synchronisation library: it runs with collection off.
    void synchronise(CoreUnit &unit, const Event &event, uint64_t number, uint32_t instructions) {
        uint32_t thread = event.thread;
        before(number);
        unit.commit(instructions);
        unit.is_collecting = false;
        after(unit, number, instructions);
        if (releases(event)) {
            reach_sync(unit);
            objects_.release(event, clocks_[thread]);
        }
        if (acquires(event)) {
            reach_sync(unit);
            objects_.acquire(event, clocks_[thread]);
            std::copy(clocks_[thread].begin(), clocks_[thread].end(),
                      checkpoint.stamps[thread].end() - settings.threads);
        }
        unit.is_collecting = collects_[thread];
    }

    void reach_sync(CoreUnit &unit) {
        Clock &clock = clocks_[unit.thread];
        unit.end(SYNC, clock, ended_);
        uint32_t &own = clock[unit.thread];
        own = std::min<uint64_t>(own + 1ull, settings.max_counter);
        std::vector<uint32_t> &log = checkpoint.stamps[unit.thread];
        log.insert(log.end(), clock.begin(), clock.end());
        send();
    }

    void switch_in(uint32_t slot, uint32_t thread) override {
        slots_[slot]->thread = thread;
        slots_[slot]->is_collecting = collects_[thread];
    }

    void switch_out(uint32_t slot) override {
        slots_[slot]->is_collecting = false;
        end_block(*slots_[slot]);
    }

    // Between events of the program: library code is not interrupted.
    void before(int64_t number) {
        if (!is_due_ || number == last_) return;
        take_checkpoint();
        is_due_ = false;
    }

    void after(CoreUnit &unit, int64_t number, uint32_t instructions) {
        reached_[unit.thread] = last_ = number;
        int64_t &committed = checkpoint.committed[unit.thread];
        committed += instructions;
        if (committed >= (int64_t)settings.interval) is_due_ = true;
    }

    // Sends the finished blocks to the RDM, and rolls back if it requests that.
    void send() {
        if (ended_.empty()) return;
        for (Summary &block : ended_) {
            statistics.blocks++;
            uint64_t bytes = (block.message_bits + 31) / 32 * 4;
            statistics.message_bytes += bytes;
            if (settings.is_measured) {
                block.committed = checkpoint.committed[block.thread];
                measures.message_bytes.push_back(bytes);
            }
            rdm.take(std::move(block));
        }
        ended_.clear();
        if (uint32_t reasons = rdm.reasons & settings.answered)
            handle(reasons & LOG_FULL ? AT_FULL : reasons & BLOCKS ? AT_BLOCKS : AT_SYNC);
    }

    void handle(Handling reason) {
        if (rdm.log.empty()) return;
        std::vector<const LogEntry *> unknown;
        Confirmation confirmation(rings_);
        for (const LogEntry &entry : rdm.log)
            if (is_new(entry, confirmation)) unknown.push_back(&entry);
        statistics.ring_reads += confirmation.read;
        if (!unknown.empty())
            for (auto &each : rollback.handle(unknown, reason, checkpoint)) {
                auto &saved = saved_[Epochs(each.thread, each.epoch, each.other, each.other_epoch)];
                std::erase_if(saved, [&](const Words &known) {
                    return is_within(known, each.signature);
                });
                saved.push_back(std::move(each.signature));
            }
        rdm.clear_log();
    }

    bool is_over(uint64_t epoch) const {
        uint32_t thread = epoch >> 32;
        return (uint32_t)epoch < clocks_[thread][thread];
    }

    static bool is_within(const Words &signature, const Words &saved) {
        for (size_t word = 0; word < signature.size(); word++)
            if (signature[word] & ~saved[word]) return false;
        return true;
    }

    // Conflicts of epochs whose addresses have all been analysed need no second analysis; with
    // address rings, those neither whose blocks have no address in common, or none that is new.
    bool is_new(const LogEntry &entry, Confirmation &confirmation) {
        auto at = saved_.find(Epochs(entry));
        auto is_saved = [&](auto test) {
            return at != saved_.end() && std::ranges::any_of(at->second, test);
        };
        if (is_saved([&](const Words &saved) { return is_within(entry.signature, saved); })) {
            statistics.conflicts_ignored++;
            return false;
        }
        if (rings_.empty()) return true;
        auto found = confirmation.common(entry.block, entry.other_block);
        if (!found) {
            statistics.conflicts_unheld++;
            return true;
        }
        if (found->empty()) {
            statistics.conflicts_dismissed++;
            return false;
        }
        auto is_analysed = [&](uint64_t granule) {
            return is_saved([&](const Words &saved) { return hash.has(saved, granule); });
        };
        if (!std::ranges::all_of(*found, is_analysed)) return true;
        statistics.conflicts_ignored++;
        return false;
    }

    void end_block(CoreUnit &unit) {
        unit.end(SWITCH, clocks_[unit.thread], ended_);
        send();
    }

    // Ends the block of every context, as an interrupt that switches to the kernel does.
    void end_blocks() {
        for (CoreUnit &unit : units_) end_block(unit);
    }

    void end_interval() {
        measures.end_interval(std::ranges::max(checkpoint.committed));
    }

    // Takes a global checkpoint; conflicts that wait are analysed first.
    void take_checkpoint() {
        end_blocks();
        handle(AT_CHECKPOINT);
        rdm.flush();
        end_interval();
        checkpoint.earlier = checkpoint.total();
        for (uint64_t thread = 0; thread < settings.threads; thread++) {
            checkpoint.stamps[thread].clear();
            checkpoint.committed[thread] = 0;
        }
        checkpoint.progress = reached_;
        // Epochs that are over have no blocks left to conflict.
        std::erase_if(saved_, [&](const auto &each) {
            return is_over(each.first.low) || is_over(each.first.high);
        });
        statistics.checkpoints++;
    }
};

Machine &machine_of(void *handle) { return *static_cast<Machine *>(handle); }

}  // namespace

extern "C" {

void *racetrap_sigrace_new(const Settings *settings, const Filter *filters, const Event *events,
                           uint64_t count) {
    return new Machine(*settings, filters, events, count);
}

void racetrap_sigrace_delete(void *machine) { delete &machine_of(machine); }

// Highest number of an epoch in which any thread has an event.
uint64_t racetrap_sigrace_last_epoch(const Event *events, uint64_t count, uint32_t threads) {
    std::vector<uint64_t> epochs(threads);
    uint64_t last = 0;
    for (const Event *event = events; event != events + count; event++) {
        uint64_t &epoch = epochs[event->thread];
        last = std::max(last, epoch);
        epoch += releases(*event) + acquires(*event);
    }
    return last;
}

void racetrap_sigrace_begin_fixed(void *machine, uint32_t threads) {
    machine_of(machine).begin(threads);
}

void racetrap_sigrace_begin_scheduled(void *machine, Draw draw) { machine_of(machine).begin(draw); }

void racetrap_sigrace_run_fixed(void *machine, uint64_t first, uint64_t count) {
    machine_of(machine).run(first, count);
}

bool racetrap_sigrace_run_scheduled(void *machine, uint64_t steps) {
    return machine_of(machine).run(steps);
}

void racetrap_sigrace_end(void *machine) { machine_of(machine).end(); }

// All instructions committed.
uint64_t racetrap_sigrace_statistics(void *machine, Statistics *statistics, Counters *counters,
                                     uint64_t *lost, Costs *costs) {
    Machine &own = machine_of(machine);
    *statistics = own.statistics;
    *counters = own.rdm.counters;
    std::copy(own.rdm.lost.begin(), own.rdm.lost.end(), lost);
    *costs = own.rollback.costs;
    return own.checkpoint.total();
}

// Of a run that was measured: lost windows; sizes of its messages, which stay there until the
// machine is deleted.
double racetrap_sigrace_measures(void *machine, Intersections *found, const uint32_t **bytes) {
    const Measures &own = machine_of(machine).measures;
    *found = own.intersections;
    *bytes = own.message_bytes.data();
    return own.lost_windows;
}

// Returns the number of reasons of rollbacks; copies each, and how many rollbacks had it.
uint64_t racetrap_sigrace_rollbacks(void *machine, RollbackCount *counts) {
    const auto &found = machine_of(machine).rollback.rollbacks;
    std::copy(found.begin(), found.end(), counts);
    return found.size();
}

// Number of different races, or of accesses to different bytes, ascending; they stay there until
// the machine is deleted.
uint64_t racetrap_sigrace_races(void *machine, bool is_false_sharing, const Race **races) {
    Rollback &own = machine_of(machine).rollback;
    const std::vector<Race> &found = (is_false_sharing ? own.false_sharing : own.races).sorted();
    *races = found.data();
    return found.size();
}
}
