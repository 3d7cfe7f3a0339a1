// Testbench of a Verilated SigraceSystem without Python in the loop: events of all contexts, remaps
// through the registers, trap records and traces.

#include "testbench.h"
#include "unit_clocks.h"

// A `Remap` is a change of CoreToThread, which waits until the RDM has taken messages of the context;
// a `Stop` an event before which a context waits until so many remaps are done, and the RDM has taken
// so many messages of all contexts, and another context has so many of its events taken.

// Events of one context; with a pace, cycles between an event and the one before.
struct Queue : Source<EventPort, EVENT_WORDS> {
    const Stop* stops = nullptr;
    uint64_t stop_count = 0, next_stop = 0;
    const uint32_t* pace = nullptr;
    uint64_t last_taken = 0;
};

// Cycles between the ends of messages.
struct Work {
    uint64_t counted = 0, since_end = 0;
    void end(bool counts) {
        if (counts) counted += since_end;
        since_end = 0;
    }
};

class Sim : public Testbench {
  public:
    explicit Sim(uint64_t seed) : Testbench(seed) {
        for (int unit = 0; unit < UNITS; unit++) {
            ports.event[unit].valid = ports.trap[unit].ready = 0;  // inputs begin random, too
            clocks[unit].begin(ports.core_unit[unit], ports.gate[unit]);
        }
        reset();
    }

    void play(uint32_t unit, const uint32_t* words, uint64_t count, const Stop* stops,
              uint64_t stop_count, const uint32_t* pace) {
        queues[unit].begin(words, count);
        queues[unit].stops = stops;
        queues[unit].stop_count = stop_count;
        queues[unit].next_stop = 0;
        queues[unit].pace = pace;
        queues[unit].last_taken = now;
    }

    void remap(const Remap* remaps_, uint64_t count, uint32_t select, uint32_t map) {
        remaps = remaps_;
        remap_count = count;
        select_address = select;
        map_address = map;
    }

    // Cycles until everything is taken and has been seen, and some more.
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

    Stats stats() const override {
        return {.cycles = now, .digest = digest.value(), .first_event = first_event, .last_event = last_event,
                .stalls = stalls, .rdm_stalls = rdm_stalls, .searching = searching.counted,
                .decompressing = decompressing.counted};
    }

    // Steps of each context, then the trap records of each, then the steps of the RDM.
    const Trace& trace(uint32_t number) const override {
        if (number < UNITS) return steps[number];
        return number < 2 * UNITS ? traps[number - UNITS] : rdm;
    }

  protected:
    void drive() override {
        for (int unit = 0; unit < UNITS; unit++) {
            clocks[unit].set();
            if (may_offer(queues[unit])) queues[unit].offer(ports.event[unit]);
            ports.trap[unit].ready = !random.percent(timing.trap_stall);
        }
        drive_remap();
    }

    bool sample() override {
        bool moved = false;
        for (int unit = 0; unit < UNITS; unit++) {
            moved |= queues[unit].sample(ports.event[unit]);
            const Link& link = ports.link[unit / CONTEXTS];
            bool waits = queues[unit].offered && !ports.event[unit].ready;
            stalls += waits;
            rdm_stalls += waits && link.valid && !link.ready;
            if (ports.trap[unit].valid && ports.trap[unit].ready) {
                traps[unit].take(ports.trap[unit].payload, TRAP_WORDS, now);
                moved = true;
            }
            if (ports.trace_core[unit].valid) {
                steps[unit].take(ports.trace_core[unit].payload, CORE_STEP_WORDS, now);
                moved = true;
            }
        }
        count_work();
        return sample_rdm() || moved;
    }

    void advance() override {
        for (int unit = 0; unit < UNITS; unit++)
            if (queues[unit].advance(ports.event[unit])) {
                queues[unit].last_taken = now;
                if (!accepted++) first_event = now;
                last_event = now;
            }
    }

    void describe(std::ostream& text) const override {
        text << messages_done << " messages and " << remaps_done << " of " << remap_count
             << " remaps done, events waiting and in flight by context";
        for (int unit = 0; unit < UNITS; unit++)
            text << " " << queues[unit].count - queues[unit].next << "+"
                 << queues[unit].next - steps[unit].count();
    }

  private:
    static constexpr int SETTLE = 64;
    Queue queues[UNITS];
    UnitClock clocks[UNITS];
    Trace steps[UNITS], traps[UNITS], rdm;
    const Remap* remaps = nullptr;
    uint64_t remap_count = 0;
    uint32_t select_address = 0, map_address = 0;
    uint64_t messages_of[UNITS] = {};
    uint64_t accepted = 0, messages_done = 0, remaps_done = 0, first_event = 0, last_event = 0;
    uint64_t stalls = 0, rdm_stalls = 0;
    Work searching, decompressing;
    int remap_writes = 0;  // register writes begun of the remap in progress

    void begin() {
        for (int unit = 0; unit < UNITS; unit++) {
            steps[unit].clear();
            traps[unit].clear();
            messages_of[unit] = 0;
        }
        rdm.clear();
        accepted = messages_done = remaps_done = stalls = rdm_stalls = quiet = 0;
        searching = decompressing = {};
    }

    static uint64_t total(const Trace (&traces)[UNITS]) {
        uint64_t sum = 0;
        for (auto& trace : traces) sum += trace.count();
        return sum;
    }

    bool may_offer(Queue& queue) {
        if (!queue.is_free()) return false;
        while (queue.next_stop < queue.stop_count) {
            const Stop& stop = queue.stops[queue.next_stop];
            if (stop.event > queue.next) break;
            if (stop.remaps > remaps_done || stop.messages > messages_done ||
                stop.events > queues[stop.unit].next)
                return false;
            queue.next_stop++;
        }
        if (queue.pace && now < queue.last_taken + queue.pace[queue.next]) return false;
        return !random.percent(timing.idle_percent);
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

    // What the RDM does in a cycle.
    void count_work() {
        bool searches = !ports.controller[0].idle, decompresses = false;
        for (auto& each : ports.decompressor) decompresses |= !each.idle;
        searching.since_end += searches;
        decompressing.since_end += !searches && decompresses;
    }

    bool sample_rdm() {
        bool moved = false;
        for (int scanner = 0; scanner < SCANNERS; scanner++) moved |= sample_rdm(ports.trace_rdm[scanner]);
        return moved;
    }

    bool sample_rdm(const RdmTracePort& port) {
        if (!port.valid) return false;
        rdm.take(port.payload, RDM_STEP_WORDS, now);
        uint32_t word = rdm.words[RDM_STEP_WORDS * (rdm.count() - 1)];
        if ((word >> KIND_OFFSET & KIND_MASK) == KIND_COMPARE) return true;
        for (Work* work : {&searching, &decompressing}) work->end(messages_done != 0);
        messages_done++;
        uint32_t unit = (word >> CORE_OFFSET & CORE_MASK) * CONTEXTS + (word >> CONTEXT_OFFSET & CONTEXT_MASK);
        if (unit < UNITS) messages_of[unit]++;
        return true;
    }
};

// Functions that Python calls besides those of testbench.h.
extern "C" {

Testbench* sim_new(uint64_t seed) { return new Sim(seed); }
void sim_events(Sim* sim, uint32_t unit, const uint32_t* words, uint64_t count, const Stop* stops,
                uint64_t stop_count, const uint32_t* pace) {
    sim->play(unit, words, count, stops, stop_count, pace);
}
void sim_remaps(Sim* sim, const Remap* remaps, uint64_t count, uint32_t select, uint32_t map) {
    sim->remap(remaps, count, select, map);
}
int sim_run(Sim* sim, uint64_t messages, uint64_t traps) { return sim->run(messages, traps); }
}
