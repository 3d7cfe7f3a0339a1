// Drives a Verilated ScordSystem without Python in the loop: SM queues, memories, registers,
// trace capture.  ports.h is generated for the design at hand (racetrap.sim.fast.ports).

#include "ports.h"

#include <verilated.h>

#include <memory>
#include <sstream>

#include "axi_memory.h"

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

struct Trace {
    uint32_t* words = nullptr;
    uint64_t capacity = 0, count = 0, first = 0, last = 0;
};

struct Lite {
    bool aw = false, w = false, ar = false, done = false;
    uint32_t address = 0, data = 0;
    uint8_t response = 0;
};

class Sim {
  public:
    Knobs knobs{};
    Failure failure;
    Memory metadata, ring;
    Queue queues[SMS];
    Trace traces[BANKS];
    uint64_t accepted = 0;

    explicit Sim(uint64_t seed)
        : random(seed), top(&prepare(context, seed)), ports(top) {
        for (auto& port : ports.transaction) port.valid = 0;  // inputs begin as junk, too
        for (int port = 0; port < METADATA_PORTS; port++)
            ports.metadata[port].rvalid = ports.metadata[port].bvalid = 0;
        ports.report.bvalid = 0;
        top.rst = 1;
        for (int cycle = 0; cycle < 4; cycle++) tick();
        top.rst = 0;
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

    int access(bool write, uint32_t address, uint32_t& data) {
        lite = Lite{};
        lite.aw = lite.w = write;
        lite.ar = !write;
        lite.address = address;
        lite.data = data;
        while (!lite.done)
            if (!tick()) return -1;
        data = lite.data;
        return lite.response;
    }

    // One clock cycle; false once something is wrong.  The edge begins the cycle: it takes the
    // inputs into the registers of fast_top.v, and ends the cycle before inside the system.
    bool tick() {
        drive();
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
        context.timeInc(1);
        quiet = sample() ? 0 : quiet + 1;
        advance();
        now++;
        if (knobs.watchdog && quiet > knobs.watchdog) report_silence();
        return failure.text.empty();
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

  private:
    VerilatedContext context;
    Random random;
    Top top;
    Ports ports;
    ReadSide<MetadataPort> reads[METADATA_PORTS + 1];
    WriteSide<MetadataPort> writes[METADATA_PORTS + 1];
    WriteSide<ReportPort> reports;
    Lite lite;
    bool granted[SMS] = {};
    uint64_t now = 0, quiet = 0;

    static VerilatedContext& prepare(VerilatedContext& context, uint64_t seed) {
        context.randReset(2);  // junk in everything that has no reset
        context.randSeed(int(seed & 0x7FFFFFFF) | 1);
        return context;
    }

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

    void drive() {
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
        drive_lite();
    }

    void drive_lite() {
        LitePort& port = ports.lite;
        port.awvalid = lite.aw;
        port.wvalid = lite.w;
        port.arvalid = lite.ar;
        port.awaddr = port.araddr = lite.address;
        port.wdata = lite.data;
        port.wstrb = 0xF;
        port.bready = port.rready = 1;
    }

    bool sample() {
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
        sample_lite();
        return moved;
    }

    void sample_lite() {
        LitePort& port = ports.lite;
        if (port.awvalid && port.awready) lite.aw = false;
        if (port.wvalid && port.wready) lite.w = false;
        if (port.arvalid && port.arready) lite.ar = false;
        if (port.bvalid) {
            lite.done = true;
            lite.response = port.bresp;
        }
        if (port.rvalid) {
            lite.done = true;
            lite.response = port.rresp;
            lite.data = port.rdata;
        }
    }

    bool capture(int bank) {
        if (!ports.trace[bank].valid) return false;
        Trace& trace = traces[bank];
        if (trace.count < trace.capacity)
            store(ports.trace[bank].payload, trace.words + STEP_WORDS * trace.count);
        if (!trace.count++) trace.first = now;
        trace.last = now;
        return true;
    }

    void advance() {
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

    void report_silence() {
        std::ostringstream text;
        text << "nothing moved for " << quiet << " cycles at cycle " << now << ": " << accepted
             << " transactions accepted, steps by bank";
        for (auto& trace : traces) text << " " << trace.count;
        text << ", transactions waiting by SM";
        for (auto& queue : queues) text << " " << queue.count - queue.next;
        failure.report(text.str());
    }
};

// What Python calls.  Buffers stay the caller's, who keeps them alive and big enough.
extern "C" {

Sim* sim_new(uint64_t seed) { return new Sim(seed); }
void sim_delete(Sim* sim) { delete sim; }
void sim_knobs(Sim* sim, const Knobs* knobs) { sim->knobs = *knobs; }

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
void sim_trace(Sim* sim, uint32_t bank, uint32_t* words, uint64_t capacity) {
    sim->traces[bank] = {words, capacity, 0, 0, 0};
}
int sim_run(Sim* sim, uint64_t steps) { return sim->run(steps); }
int sim_write(Sim* sim, uint32_t address, uint32_t data) { return sim->access(true, address, data); }
int sim_read(Sim* sim, uint32_t address, uint32_t* data) { return sim->access(false, address, *data); }
const char* sim_failure(Sim* sim) { return sim->failure.text.c_str(); }
void sim_stats(Sim* sim, Stats* stats) { sim->fill(*stats); }
}
