// What drives any Verilated system: clock, reset, registers, watchdog, trace ports.  ports.h is
// generated for the design at hand (racetrap.sim.cosim.fast.ports).  A detector's shim derives from
// Bench and adds its own streams.

#pragma once

#include "ports.h"

#include <verilated.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

// xorshift64*: small, fast, and the same on every machine.
class Random {
  public:
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u | 1) {}

    uint64_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545F4914F6CDD1Du;
    }
    uint64_t below(uint64_t limit) { return limit ? (next() >> 32) % limit : 0; }
    bool percent(uint32_t chance) { return chance && below(100) < chance; }

  private:
    uint64_t state;
};

// The first thing that went wrong.
class Failure {
  public:
    std::string text;
    void report(const std::string& what) {
        if (text.empty()) text = what;
    }
};

// All that a valid-payload port, or a stream that is taken, has shown, and when.
struct Trace {
    std::vector<uint32_t> words;
    uint64_t count = 0, first = 0, last = 0;

    template <class Port> void take(const Port& payload, int width, uint64_t now) {
        words.resize(words.size() + width);
        store(payload, words.data() + words.size() - width);
        if (!count++) first = now;
        last = now;
    }
    void clear() { *this = Trace{}; }
};

// One register access at a time.
class Lite {
  public:
    void start(bool write, uint32_t address_, uint32_t data_) {
        aw = w = write;
        ar = !write;
        done = false;
        address = address_;
        data = data_;
    }
    void drive(LitePort& port) const {
        port.awvalid = aw;
        port.wvalid = w;
        port.arvalid = ar;
        port.awaddr = port.araddr = address;
        port.wdata = data;
        port.wstrb = 0xF;
        port.bready = port.rready = 1;
    }
    void sample(const LitePort& port) {
        if (port.awvalid && port.awready) aw = false;
        if (port.wvalid && port.wready) w = false;
        if (port.arvalid && port.arready) ar = false;
        if (port.bvalid) {
            done = true;
            response = port.bresp;
        }
        if (port.rvalid) {
            done = true;
            response = port.rresp;
            data = port.rdata;
        }
    }

    bool done = false;
    uint32_t data = 0;
    uint8_t response = 0;

  private:
    bool aw = false, w = false, ar = false;
    uint32_t address = 0;
};

class Bench {
  public:
    Failure failure;
    uint32_t watchdog = 0;  // cycles without any handshake that end a run; 0: none

    explicit Bench(uint64_t seed) : random(seed), top(&prepare(context, seed)), ports(top) {}
    virtual ~Bench() = default;

    int access(bool write, uint32_t address, uint32_t& data) {
        lite.start(write, address, data);
        while (!lite.done)
            if (!tick()) return -1;
        data = lite.data;
        return lite.response;
    }

    // One clock cycle; false once something is wrong.  The edge begins the cycle: it takes the
    // inputs into the registers of fast_top.v, and ends the cycle before inside the system.
    bool tick() {
        drive();
        lite.drive(ports.lite);
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
        context.timeInc(1);
        bool moved = sample();
        lite.sample(ports.lite);
        quiet = moved ? 0 : quiet + 1;
        advance();
        now++;
        if (watchdog && quiet > watchdog) report_silence();
        return failure.text.empty();
    }

  protected:
    VerilatedContext context;
    Random random;
    Top top;
    Ports ports;
    Lite lite;
    uint64_t now = 0, quiet = 0;

    // Inputs for the next cycle; whether anything moved in it; what has moved is withdrawn.
    virtual void drive() = 0;
    virtual bool sample() = 0;
    virtual void advance() = 0;
    // What is still waited for.
    virtual void describe(std::ostream& text) const = 0;

    void reset() {
        top.rst = 1;
        for (int cycle = 0; cycle < 4; cycle++) tick();
        top.rst = 0;
    }

  private:
    static VerilatedContext& prepare(VerilatedContext& context, uint64_t seed) {
        context.randReset(2);  // junk in everything that has no reset
        context.randSeed(int(seed & 0x7FFFFFFF) | 1);
        return context;
    }

    void report_silence() {
        std::ostringstream text;
        text << "nothing moved for " << quiet << " cycles at cycle " << now << ": ";
        describe(text);
        failure.report(text.str());
    }
};

// What Python calls for any system.  Buffers that it hands over stay its own, alive and big
// enough.
extern "C" {

void sim_delete(Bench* bench) { delete bench; }
int sim_write(Bench* bench, uint32_t address, uint32_t data) {
    return bench->access(true, address, data);
}
int sim_read(Bench* bench, uint32_t address, uint32_t* data) {
    return bench->access(false, address, *data);
}
const char* sim_failure(Bench* bench) { return bench->failure.text.c_str(); }
}
