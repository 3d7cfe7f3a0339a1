// Testbench of a Verilated NoncoherentSystem without Python in the loop: operations, report ring,
// trace.

#include "axi_memory.h"
#include "testbench.h"

class Sim : public Testbench {
  public:
    Memory ring;

    explicit Sim(uint64_t seed) : Testbench(seed) {
        ports.operation.valid = ports.report.bvalid = 0;  // inputs begin random, too
        for (uint64_t number = 0; number < BUSES; number++) {  // an observed bus is quiet
            BusPort& bus = ports.buses[number];
            bus.arvalid = bus.awvalid = bus.rvalid = bus.bvalid = 0;
        }
        reset();
    }

    // Cycles until all operations have been taken and so many steps have been seen.
    int run(const uint32_t* words, uint64_t count, uint64_t due) {
        steps.clear();
        queue.begin(words, count);
        while (queue.next < queue.count || steps.count() < due)
            if (!tick()) return 1;
        return 0;
    }

    Stats stats() const override { return {.cycles = now, .digest = digest.value(), .write_errors = reports.errors}; }

    const Trace& trace(uint32_t) const override { return steps; }

  protected:
    void drive() override {
        if (queue.is_free() && !random.percent(timing.idle_percent)) queue.offer(ports.operation);
        reports.drive(ports.report, timing, random, ring, timing.write_errors, failure, now);
    }

    bool sample() override {
        bool moved = queue.sample(ports.operation);
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
             << " steps seen";
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
int sim_run(Sim* sim, const uint32_t* words, uint64_t count, uint64_t due) {
    return sim->run(words, count, due);
}
}
