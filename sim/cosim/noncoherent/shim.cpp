// Testbench of a Verilated NoncoherentSystem without Python in the loop: operations, an observed bus,
// report ring, trace.

#include "axi_memory.h"
#include "bus_traffic.h"
#include "testbench.h"

class Sim : public Testbench {
  public:
    Memory ring;
    BusTraffic traffic;

    explicit Sim(uint64_t seed) : Testbench(seed) {
        ports.operation.valid = ports.report.bvalid = 0;  // inputs begin random, too
        reset();
    }

    // Cycles until all operations have been taken, all bursts have ended and so many steps have been
    // seen.
    int run(const uint32_t* words, uint64_t count, uint64_t due) {
        steps.clear();
        queue.begin(words, count);
        while (queue.next < queue.count || steps.count() < due || traffic.is_busy())
            if (!tick()) return 1;
        return 0;
    }

    Stats stats() const override { return {.cycles = now, .digest = digest.value(), .write_errors = reports.errors}; }

    const Trace& trace(uint32_t) const override { return steps; }

  protected:
    void drive() override {
        if (queue.is_free() && !random.percent(timing.idle_percent)) queue.offer(ports.operation);
        for (int bus = 0; bus < BUSES; bus++) traffic.drive(ports.buses[bus], random);
        reports.drive(ports.report, timing, random, ring, timing.write_errors, failure, now);
    }

    bool sample() override {
        bool moved = queue.sample(ports.operation);
        for (int bus = 0; bus < BUSES; bus++) moved |= traffic.sample(ports.buses[bus], now);
        moved |= reports.sample(ports.report, timing, random, failure, digest, now);
        if (!ports.trace.valid) return moved;
        steps.take(ports.trace.payload, STEP_WORDS, now);
        return true;
    }

    void advance() override {
        queue.advance(ports.operation);
        reports.advance(ports.report);
    }

    void describe(std::ostream& text) const override {
        text << queue.count - queue.next << " operations waiting, " << steps.count()
             << " steps seen, bursts " << (traffic.is_busy() ? "left" : "ended");
    }

  private:
    Source<OperationPort, OPERATION_WORDS> queue;
    Trace steps;
    WriteSide<ReportPort> reports;
};

// Functions that Python calls besides those of testbench.h.
extern "C" {

Testbench* sim_new(uint64_t seed) { return new Sim(seed); }
void sim_ring(Sim* sim, uint64_t base, uint64_t* words, uint64_t count) {
    sim->ring = {base, count, words};
}
void sim_bursts(Sim* sim, const BusBurst* bursts, uint64_t count, uint64_t together, uint32_t busy) {
    sim->traffic.begin(bursts, count, together, busy);
}
uint64_t sim_bus_seen(Sim* sim, const BusSeen** seen) {
    *seen = sim->traffic.seen.data();
    return sim->traffic.seen.size();
}
int sim_run(Sim* sim, const uint32_t* words, uint64_t count, uint64_t due) {
    return sim->run(words, count, due);
}
}
