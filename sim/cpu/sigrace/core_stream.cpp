// Events of the cores in a program whose threads stay where they are, and the state of each core
// unit after every one: as SyncLibrary, playback and CoreUnit of racetrap.golden_model.sigrace; and
// the RDM's steps for their messages.
#include "rdm.h"

namespace {

class CoreStream {
public:
    const Settings settings;
    const SignatureHash hash;
    std::vector<std::vector<Step>> steps;  // of each unit
    uint64_t messages = 0;                 // that the RDM has not taken
    Rdm rdm;
    std::vector<RdmStep> rdm_steps;

    CoreStream(const Settings &settings, const Filter *filters, uint32_t threads)
        : settings(settings), hash(this->settings, filters), steps(threads),
          rdm(this->settings, hash), sent_(threads), units_(threads, CoreUnit(this->settings, hash)),
          clocks_(threads, Clock(settings.threads)), collects_(threads, true), saturated_(threads) {}

    // Replaces what the events before have made.
    void take(const Event *events, uint64_t count) {
        for (auto &each : steps) each.clear();
        if (!is_begun_) begin();
        for (const Event *event = events; event != events + count; event++) play(*event);
    }

    // Lets the RDM take the next message of each of these units; false if there is none.
    bool take_messages(const uint32_t *units, uint64_t count) {
        rdm_steps.clear();
        rdm.steps = &rdm_steps;
        for (const uint32_t *unit = units; unit != units + count; unit++) {
            if (*unit >= sent_.size() || sent_[*unit].empty()) return false;
            rdm.take(std::move(sent_[*unit].front()));
            sent_[*unit].pop_front();
            messages--;
        }
        return true;
    }

private:
    std::vector<std::deque<Summary>> sent_;  // messages of each unit
    std::vector<CoreUnit> units_;
    std::vector<Clock> clocks_;
    std::vector<bool> collects_, saturated_;
    SyncObjects objects_;
    std::vector<Summary> ended_;
    bool is_begun_ = false;

    void begin() {
        is_begun_ = true;
        for (uint32_t thread = 0; thread < units_.size(); thread++) {
            add(thread, {.op = OP_RESET});
            units_[thread].thread = thread;
            add(thread, {.index = (uint16_t)thread, .op = OP_SWITCH_IN});
            add(thread, {.op = OP_MODE});
            collect(thread, {}, true);
        }
    }

    // The unit has taken the event: its state is the one after it.
    void add(uint32_t thread, Step step) {
        CoreUnit &unit = units_[thread];
        step.own = clocks_[thread][unit.thread];
        step.counter = unit.counter();
        step.read_values = unit.values(false);
        step.write_values = unit.values(true);
        step.collecting = unit.is_collecting;
        step.thread = unit.thread;
        step.sent = ended_.size();
        step.cause = unit.cause;
        step.saturated = saturated_[thread];
        steps[thread].push_back(step);
        unit.cause = NONE;
        messages += ended_.size();
        for (Summary &summary : ended_) sent_[thread].push_back(std::move(summary));
        ended_.clear();
    }

    void play(const Event &event) {
        uint32_t thread = event.thread, left = event.instructions;
        CoreUnit &unit = units_[thread];
        const Clock &clock = clocks_[thread];
        bool is_access = event.kind <= STORE, is_mark = event.kind >= COLLECT_OFF;
        bool acts = is_access || is_mark || releases(event) || acquires(event);
        while (left > (acts ? MAX_INSTRUCTIONS : 0)) {
            uint32_t share = std::min(left, MAX_INSTRUCTIONS);
            unit.take(0, 0, false, share, clock, ended_);
            add(thread, {.instructions = (uint16_t)share, .op = OP_INSTRUCTIONS});
            left -= share;
        }
        Step first = {.instructions = (uint16_t)left};
        if (is_access) {
            unit.take(event.address, event.size, event.kind == STORE, left, clock, ended_);
            first.data = event.address;
            first.pc = event.pc;
            first.size = event.size;
            first.op = event.kind == STORE ? OP_STORE : OP_LOAD;
            add(thread, first);
        } else if (is_mark) {
            unit.commit(left);
            collects_[thread] = event.kind == COLLECT_ON;
            collect(thread, first, collects_[thread]);
        } else if (acts) {
            synchronise(event, first);
        }
    }

    void collect(uint32_t thread, Step step, bool is_on) {
        units_[thread].is_collecting = is_on;
        step.op = is_on ? OP_COLLECT_ON : OP_COLLECT_OFF;
        add(thread, step);
    }

    // The synchronisation library: it runs with collection off.
    void synchronise(const Event &event, Step first) {
        uint32_t thread = event.thread;
        Clock &clock = clocks_[thread];
        if (collects_[thread]) {
            units_[thread].commit(first.instructions);
            collect(thread, first, false);
            first.instructions = 0;
        }
        if (releases(event)) {
            reach_sync(thread, first);
            first.instructions = 0;
            objects_.release(event, clock);
        }
        if (acquires(event)) {
            reach_sync(thread, first);
            Clock before = clock;
            objects_.acquire(event, clock);
            for (uint32_t index = 0; index < clock.size(); index++)
                if (clock[index] != before[index]) write(thread, index);
        }
        if (collects_[thread]) collect(thread, {}, true);
    }

    void reach_sync(uint32_t thread, Step step) {
        Clock &clock = clocks_[thread];
        units_[thread].end(SYNC, clock, ended_);
        uint32_t &own = clock[thread];
        own = std::min<uint64_t>(own + 1ull, settings.max_counter);
        saturated_[thread] = saturated_[thread] || own == settings.max_counter;
        step.op = OP_SYNC_REACHED;
        add(thread, step);
    }

    void write(uint32_t thread, uint32_t index) {
        uint32_t value = clocks_[thread][index];
        saturated_[thread] = saturated_[thread] || value == settings.max_counter;
        add(thread, {.data = value, .index = (uint16_t)index, .op = OP_TS_WRITE});
    }
};

CoreStream &stream_of(void *handle) { return *static_cast<CoreStream *>(handle); }

}  // namespace

extern "C" {

void *racetrap_stream_new(const Settings *settings, const Filter *filters, uint32_t threads) {
    return new CoreStream(*settings, filters, threads);
}

void racetrap_stream_delete(void *stream) { delete &stream_of(stream); }

void racetrap_stream_take(void *stream, const Event *events, uint64_t count) {
    stream_of(stream).take(events, count);
}

// Number of a unit's events; copies them, with the states, if there is room.
uint64_t racetrap_stream_steps(void *stream, uint32_t unit, Step *target) {
    const std::vector<Step> &steps = stream_of(stream).steps[unit];
    if (target) std::copy(steps.begin(), steps.end(), target);
    return steps.size();
}

// Messages that the RDM has not taken.
uint64_t racetrap_stream_messages(void *stream) { return stream_of(stream).messages; }

// Lets the RDM take messages, one of each unit given; number of its steps, or -1 if one of the
// messages was never sent.
int64_t racetrap_stream_take_messages(void *stream, const uint32_t *units, uint64_t count) {
    CoreStream &own = stream_of(stream);
    return own.take_messages(units, count) ? (int64_t)own.rdm_steps.size() : -1;
}

void racetrap_stream_rdm_steps(void *stream, RdmStep *target) {
    const std::vector<RdmStep> &steps = stream_of(stream).rdm_steps;
    std::copy(steps.begin(), steps.end(), target);
}

void racetrap_stream_flush(void *stream) { stream_of(stream).rdm.flush(); }

void racetrap_stream_clear_log(void *stream) { stream_of(stream).rdm.clear_log(); }

// Counters as of racetrap_sigrace_statistics, windows lost, and reasons of a rollback.
void racetrap_stream_counters(void *stream, StreamCounters *counters) {
    const Rdm &rdm = stream_of(stream).rdm;
    *counters = {.counters = rdm.counters, .lost_windows = 0, .reasons = rdm.reasons};
    for (uint64_t lost : rdm.lost) counters->lost_windows += lost;
}

// Number of logged conflicts; copies numbers, timestamps and signatures if there is room for all.
uint64_t racetrap_stream_log(void *stream, LoggedConflict *conflicts, uint32_t *timestamps,
                             uint64_t *signatures, uint64_t room) {
    const CoreStream &own = stream_of(stream);
    const std::vector<LogEntry> &log = own.rdm.log;
    if (log.size() > room) return log.size();
    for (const LogEntry &entry : log) {
        *conflicts++ = {entry.thread, entry.other, entry.conflict};
        for (const Clock *clock : {&entry.timestamp, &entry.other_timestamp})
            timestamps = std::copy(clock->begin(), clock->end(), timestamps);
        own.hash.pack(entry.signature, signatures);
        signatures += own.hash.packed_bytes() / 8;
    }
    return log.size();
}
}
