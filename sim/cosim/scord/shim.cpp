// Drives a Verilated ScordSystem without Python in the loop: SM queues, memories, trace capture.

#include "axi_memory.h"
#include "bench.h"

// Results of a run; also the layout of the Python side's structure.
struct Stats {
    uint64_t cycles;                          // since reset
    uint64_t accepted;                        // transactions, since they were loaded
    uint64_t steps[16], first_step[16], last_step[16];
    uint64_t read_beats[16], first_read[16], last_read[16];
    uint64_t read_errors, write_errors;
};

// One SM's transactions, and when each may be offered.
struct Queue {
    const uint32_t* words = nullptr;
    const uint64_t* order = nullptr;  // of each: its global number, steps that must come first
    uint64_t count = 0, next = 0;
    bool offered = false;
};

class Sim : public Bench {
  public:
    Knobs knobs{};
    Memory metadata, ring;
    Queue queues[SMS];
    Trace traces[BANKS];
    uint64_t accepted = 0;

    explicit Sim(uint64_t seed) : Bench(seed) {
        for (auto& port : ports.transaction) port.valid = 0;  // inputs begin as junk, too
        for (int port = 0; port < METADATA_PORTS; port++)
            ports.metadata[port].rvalid = ports.metadata[port].bvalid = 0;
        ports.report.bvalid = 0;
        reset();
    }

    // Steps until `steps` steps have been seen and all transactions accepted.
    int run(uint64_t steps) {
        uint64_t waiting = 0;
        for (auto& queue : queues) waiting += queue.count - queue.next;
        uint64_t goal = accepted + waiting;
        while (accepted < goal || seen() < steps)
            if (!tick()) return 1;
        return 0;
    }

    void fill(Stats& stats) const {
        stats = Stats{};
        stats.cycles = now;
        stats.accepted = accepted;
        for (int bank = 0; bank < BANKS; bank++) {
            stats.steps[bank] = traces[bank].count;
            stats.first_step[bank] = traces[bank].first;
            stats.last_step[bank] = traces[bank].last;
        }
        for (int port = 0; port < METADATA_PORTS; port++) {
            stats.read_beats[port] = reads[port].beats;
            stats.first_read[port] = reads[port].first;
            stats.last_read[port] = reads[port].last;
            stats.read_errors += reads[port].errors;
            stats.write_errors += writes[port].errors;
        }
    }

  protected:
    void drive() override {
        for (int sm = 0; sm < SMS; sm++) {
            Queue& queue = queues[sm];
            if (may_offer(queue)) {
                load(ports.transaction[sm].payload, queue.words + TRANSACTION_WORDS * queue.next);
                ports.transaction[sm].valid = 1;
                queue.offered = true;
            }
        }
        for (int port = 0; port < METADATA_PORTS; port++) {
            reads[port].drive(ports.metadata[port], knobs, random, metadata, now);
            writes[port].drive(ports.metadata[port], knobs, random, metadata, knobs.write_errors,
                               failure, now);
        }
        reports.drive(ports.report, knobs, random, ring, 0, failure, now);
    }

    bool sample() override {
        bool moved = false;
        for (int sm = 0; sm < SMS; sm++) {
            granted[sm] = queues[sm].offered && ports.transaction[sm].ready;
            moved |= granted[sm];
        }
        for (int port = 0; port < METADATA_PORTS; port++) {
            moved |= reads[port].sample(ports.metadata[port], knobs, random, metadata, failure, now);
            moved |= writes[port].sample(ports.metadata[port], knobs, random, failure, now);
        }
        moved |= reports.sample(ports.report, knobs, random, failure, now);
        for (int bank = 0; bank < BANKS; bank++) moved |= capture(bank);
        return moved;
    }

    void advance() override {
        for (int sm = 0; sm < SMS; sm++)
            if (granted[sm]) {
                ports.transaction[sm].valid = 0;
                queues[sm].offered = false;
                queues[sm].next++;
                accepted++;
            }
        for (int port = 0; port < METADATA_PORTS; port++) {
            reads[port].advance(ports.metadata[port]);
            writes[port].advance(ports.metadata[port]);
        }
        reports.advance(ports.report);
    }

    void describe(std::ostream& text) const override {
        text << accepted << " transactions accepted, steps by bank";
        for (auto& trace : traces) text << " " << trace.count;
        text << ", transactions waiting by SM";
        for (auto& queue : queues) text << " " << queue.count - queue.next;
    }

  private:
    ReadSide<MetadataPort> reads[METADATA_PORTS + 1];
    WriteSide<MetadataPort> writes[METADATA_PORTS + 1];
    WriteSide<ReportPort> reports;
    bool granted[SMS] = {};

    uint64_t seen() const {
        uint64_t total = 0;
        for (auto& trace : traces) total += trace.count;
        return total;
    }

    bool may_offer(const Queue& queue) {
        if (queue.offered || queue.next == queue.count) return false;
        if (!queue.order) return !random.percent(knobs.idle_percent);
        const uint64_t* order = queue.order + 2 * queue.next;
        return accepted == order[0] && seen() >= order[1];
    }

    bool capture(int bank) {
        if (!ports.trace[bank].valid) return false;
        traces[bank].take(ports.trace[bank].payload, STEP_WORDS, now);
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

void sim_metadata(Sim* sim, uint64_t base, uint64_t* words, uint64_t count) {
    sim->metadata = {base, count, words};
}
void sim_ring(Sim* sim, uint64_t base, uint64_t* words, uint64_t count) {
    sim->ring = {base, count, words};
}
void sim_transactions(Sim* sim, uint32_t sm, const uint32_t* words, const uint64_t* order,
                      uint64_t count) {
    sim->queues[sm] = {words, order, count, 0, false};
    sim->accepted = 0;
}
const uint32_t* sim_trace(Sim* sim, uint32_t bank) { return sim->traces[bank].words.data(); }
int sim_run(Sim* sim, uint64_t steps) {
    for (auto& trace : sim->traces) trace.clear();
    return sim->run(steps);
}
void sim_stats(Sim* sim, Stats* stats) { sim->fill(*stats); }
}
