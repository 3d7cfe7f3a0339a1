// Drives a Verilated SigraceSystem without Python in the loop: events of all contexts, remaps
// through the registers, trap records and traces.

#include "bench.h"

// Behaviour of the world around; also the layout of the Python side's structure.
struct Knobs {
    uint32_t idle_percent;  // of cycles in which a context with nothing offered stays silent
    uint32_t trap_stall;    // of cycles in which no trap record is taken, in percent
    uint32_t watchdog;      // cycles without any handshake that end a run
};

// Results of a run; also the layout of the Python side's structure.
struct Stats {
    uint64_t cycles;                   // since reset
    uint64_t accepted;                 // events, in the last run
    uint64_t first_event, last_event;  // cycles of the first and last of them
};

// A change of CoreToThread, which waits until the RDM has taken messages of the context.
struct Remap {
    uint64_t unit, messages;
    uint64_t select, map;  // register values
};

// An event before which a context waits until so many remaps are done, and the RDM has taken so
// many messages of all contexts.
struct Stop {
    uint64_t event, remaps, messages;
};

// Events of one context.
struct Queue {
    const uint32_t* words = nullptr;
    const Stop* stops = nullptr;
    uint64_t count = 0, stop_count = 0, next = 0, next_stop = 0;
    bool offered = false;
};

class Sim : public Bench {
  public:
    Knobs knobs{};
    Queue queues[UNITS];
    Trace steps[UNITS], traps[UNITS], rdm;
    std::vector<uint64_t> rdm_cycles;  // of each step
    const Remap* remaps = nullptr;
    uint64_t remap_count = 0;
    uint32_t select_address = 0, map_address = 0;

    explicit Sim(uint64_t seed) : Bench(seed) {
        for (int unit = 0; unit < UNITS; unit++)
            ports.event[unit].valid = ports.trap[unit].ready = 0;  // inputs begin as junk, too
        reset();
    }

    // Until everything is taken and has been seen, and some cycles more.
    int run(uint64_t messages, uint64_t trap_records) {
        begin();
        uint64_t goal = 0;
        for (auto& queue : queues) goal += queue.count;
        while (accepted < goal || remaps_done < remap_count || total(steps) < goal ||
               messages_done < messages || total(traps) < trap_records)
            if (!tick()) return 1;
        for (int cycle = 0; cycle < SETTLE; cycle++)
            if (!tick()) return 1;
        return 0;
    }

    void fill(Stats& stats) const { stats = {now, accepted, first_event, last_event}; }

  protected:
    void drive() override {
        for (int unit = 0; unit < UNITS; unit++) {
            Queue& queue = queues[unit];
            if (may_offer(queue)) {
                load(ports.event[unit].payload, queue.words + EVENT_WORDS * queue.next);
                ports.event[unit].valid = 1;
                queue.offered = true;
            }
            ports.trap[unit].ready = !random.percent(knobs.trap_stall);
        }
        drive_remap();
    }

    bool sample() override {
        bool moved = false;
        for (int unit = 0; unit < UNITS; unit++) {
            granted[unit] = queues[unit].offered && ports.event[unit].ready;
            moved |= granted[unit];
            if (ports.trap[unit].valid && ports.trap[unit].ready) {
                traps[unit].take(ports.trap[unit].payload, TRAP_WORDS, now);
                moved = true;
            }
            if (ports.trace_core[unit].valid) {
                steps[unit].take(ports.trace_core[unit].payload, CORE_STEP_WORDS, now);
                moved = true;
            }
        }
        return sample_rdm() || moved;
    }

    void advance() override {
        for (int unit = 0; unit < UNITS; unit++)
            if (granted[unit]) {
                ports.event[unit].valid = 0;
                queues[unit].offered = false;
                queues[unit].next++;
                if (!accepted++) first_event = now;
                last_event = now;
            }
    }

    void describe(std::ostream& text) const override {
        text << messages_done << " messages and " << remaps_done << " of " << remap_count
             << " remaps done, events waiting and under way by context";
        for (int unit = 0; unit < UNITS; unit++)
            text << " " << queues[unit].count - queues[unit].next << "+"
                 << queues[unit].next - steps[unit].count;
    }

  private:
    static constexpr int SETTLE = 64;
    bool granted[UNITS] = {};
    uint64_t messages_of[UNITS] = {};
    uint64_t accepted = 0, messages_done = 0, remaps_done = 0, first_event = 0, last_event = 0;
    int remap_writes = 0;  // of the remap that is going on: register writes begun

    void begin() {
        for (int unit = 0; unit < UNITS; unit++) {
            steps[unit].clear();
            traps[unit].clear();
            messages_of[unit] = 0;
        }
        rdm.clear();
        rdm_cycles.clear();
        accepted = messages_done = remaps_done = quiet = 0;
    }

    static uint64_t total(const Trace (&traces)[UNITS]) {
        uint64_t sum = 0;
        for (auto& trace : traces) sum += trace.count;
        return sum;
    }

    bool may_offer(Queue& queue) {
        if (queue.offered || queue.next == queue.count) return false;
        while (queue.next_stop < queue.stop_count) {
            const Stop& stop = queue.stops[queue.next_stop];
            if (stop.event > queue.next) break;
            if (stop.remaps > remaps_done || stop.messages > messages_done) return false;
            queue.next_stop++;
        }
        return !random.percent(knobs.idle_percent);
    }

    void drive_remap() {
        if (remap_writes && !lite.done) return;
        if (remap_writes && lite.response) failure.report("a register of CoreToThread was refused");
        if (remap_writes == 2) {
            remaps_done++;
            remap_writes = 0;
        }
        if (remaps_done == remap_count) return;
        const Remap& remap = remaps[remaps_done];
        if (messages_of[remap.unit] < remap.messages) return;
        if (!remap_writes) lite.start(true, select_address, uint32_t(remap.select));
        else lite.start(true, map_address, uint32_t(remap.map));
        remap_writes++;
    }

    bool sample_rdm() {
        if (!ports.trace_rdm.valid) return false;
        rdm.take(ports.trace_rdm.payload, RDM_STEP_WORDS, now);
        rdm_cycles.push_back(now);
        uint32_t word = rdm.words[rdm.words.size() - RDM_STEP_WORDS];
        if ((word >> KIND_OFFSET & 3) == KIND_COMPARE) return true;
        messages_done++;
        uint32_t unit = (word >> CORE_OFFSET & 0xFF) * CONTEXTS + (word >> CONTEXT_OFFSET & 0xF);
        if (unit < UNITS) messages_of[unit]++;
        return true;
    }
};

// What Python calls besides the functions of bench.h.
extern "C" {

Bench* sim_new(uint64_t seed) { return new Sim(seed); }
void sim_knobs(Sim* sim, const Knobs* knobs) {
    sim->knobs = *knobs;
    sim->watchdog = knobs->watchdog;
}
void sim_events(Sim* sim, uint32_t unit, const uint32_t* words, uint64_t count, const Stop* stops,
                uint64_t stop_count) {
    sim->queues[unit] = {words, stops, count, stop_count};
}
void sim_remaps(Sim* sim, const Remap* remaps, uint64_t count, uint32_t select, uint32_t map) {
    sim->remaps = remaps;
    sim->remap_count = count;
    sim->select_address = select;
    sim->map_address = map;
}
int sim_run(Sim* sim, uint64_t messages, uint64_t traps) { return sim->run(messages, traps); }
void sim_stats(Sim* sim, Stats* stats) { sim->fill(*stats); }

uint64_t sim_step_count(Sim* sim, uint32_t unit) { return sim->steps[unit].count; }
const uint32_t* sim_steps(Sim* sim, uint32_t unit) { return sim->steps[unit].words.data(); }
uint64_t sim_trap_count(Sim* sim, uint32_t unit) { return sim->traps[unit].count; }
const uint32_t* sim_traps(Sim* sim, uint32_t unit) { return sim->traps[unit].words.data(); }
uint64_t sim_rdm_count(Sim* sim) { return sim->rdm.count; }
const uint32_t* sim_rdm_steps(Sim* sim) { return sim->rdm.words.data(); }
const uint64_t* sim_rdm_cycles(Sim* sim) { return sim->rdm_cycles.data(); }
}
