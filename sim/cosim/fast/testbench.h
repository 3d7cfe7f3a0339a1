// Testbench around any Verilated system: clock, reset, registers, watchdog, input queues, traces.
// ports.h is generated for the design at hand (racetrap.sim.cosim.fast.ports), twins.h from what Python
// hands over.  A detector's shim
// derives from Testbench and adds its own streams.

#pragma once

#include "ports.h"
#include "twins.h"

#include <verilated.h>
#ifdef WAVES
#include <verilated_fst_c.h>
#endif

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

// The first error of a run.
class Failure {
  public:
    std::string text;
    void report(const std::string& what) {
        if (text.empty()) text = what;
    }
};

// Digest of numbers, in the order in which they come.
class Digest {
  public:
    void note(uint64_t number) {
        state = (state ^ number) * 0x100000001B3u;
        state ^= state >> 32;
    }
    uint32_t value() const { return uint32_t(state); }

  private:
    uint64_t state = 0xCBF29CE484222325u;
};

// Payloads of a stream that is taken, or of a port that only has `valid`, and their cycles.
struct Trace {
    std::vector<uint32_t> words;  // those of `count()` payloads, and room for more
    std::vector<uint64_t> cycles;
    size_t width = 0;  // words of a payload

    uint64_t count() const { return cycles.size(); }
    template <class Port> void take(const Port& payload, int width_, uint64_t now) {
        width = width_;
        size_t begin = width * count();
        if (words.size() < begin + width) words.resize(2 * (begin + width));
        store(payload, words.data() + begin);
        cycles.push_back(now);
    }
    void clear() { *this = Trace{}; }
    void forget_first(size_t number) {
        words.erase(words.begin(), words.begin() + width * number);
        cycles.erase(cycles.begin(), cycles.begin() + number);
    }
};

// Payloads for an input stream, each offered until it is taken.
template <class Port, int WIDTH> class Source {
  public:
    uint64_t count = 0, next = 0;
    bool offered = false;

    void begin(const uint32_t* words_, uint64_t count_) {
        words = words_;
        count = count_;
        next = 0;
        offered = taken = false;
    }
    bool is_free() const { return !offered && next < count; }
    void offer(Port& port) {
        load(port.payload, words + WIDTH * next);
        port.valid = 1;
        offered = true;
    }
    bool sample(const Port& port) { return taken = offered && port.ready; }
    // At reset: offer nothing more of what was begun.
    void forget(Port& port) {
        count = next = 0;
        port.valid = offered = taken = false;
    }
    // After the clock edge: withdraw a payload that was taken, and return whether one was.
    bool advance(Port& port) {
        if (!taken) return false;
        port.valid = 0;
        offered = taken = false;
        next++;
        return true;
    }

  private:
    const uint32_t* words = nullptr;
    bool taken = false;
};

// How an access holds back its channels: cycles before a write's address and its data are offered,
// and before an answer is taken.
struct Waits {
    uint32_t address = 0, data = 0, answer = 0;
};

// One register access at a time.
class Lite {
  public:
    void start(bool write, uint32_t address_, uint32_t data_, uint32_t strobes_ = 0xF,
               Waits waits_ = {}) {
        aw = w = writes = write;
        ar = !write;
        done = false;
        address = address_;
        data = data_;
        strobes = strobes_;
        waits = waits_;
    }
    void drive(LitePort& port) const {
        port.awvalid = aw && !waits.address;
        port.wvalid = w && !waits.data;
        port.arvalid = ar;
        port.awaddr = port.araddr = address;
        port.wdata = data;
        port.wstrb = strobes;
        port.bready = port.rready = !waits.answer;
    }
    void sample(const LitePort& port) {
        if (port.awvalid && port.awready) aw = false;
        if (port.wvalid && port.wready) w = false;
        if (port.arvalid && port.arready) ar = false;
        if (port.bvalid && port.bready) {
            done = true;
            response = port.bresp;
        }
        if (port.rvalid && port.rready) {
            done = true;
            response = port.rresp;
            data = port.rdata;
        }
        if (waits.address) waits.address--;
        if (waits.data) waits.data--;
        if (waits.answer && (port.bvalid || port.rvalid)) waits.answer--;
    }

    bool is_writing() const { return writes && !done; }

    bool done = false;
    uint32_t data = 0;
    uint8_t response = 0;

  private:
    bool aw = false, w = false, ar = false, writes = false;
    uint32_t address = 0, strobes = 0;
    Waits waits;
};

// Mutant that simulations made from now on run, of a design with mutants; 0: none.
inline uint32_t selected_mutant = 0;

class Testbench {
  public:
    Failure failure;

    explicit Testbench(uint64_t seed)
        : random(seed), top(&prepare(context, seed)), ports(top) {
        for (int n = 0; n < SELECTORS; n++) ports.mutant[n].value = selected_mutant;
    }
    // Public parts of `top` unregister from this thread's current context, which may be that of a
    // simulation made later.
    virtual ~Testbench() {
#ifdef WAVES
        waves.close();
#endif
        Verilated::threadContextp(&context);
    }

    // Write waves of all signals from now on; whether the library can.
    bool open_waves(const char* file) {
#ifdef WAVES
        context.traceEverOn(true);
        top.trace(&waves, 99);
        waves.open(file);
        return waves.isOpen();
#else
        return false;
#endif
    }

    void set_timing(const Timing& values) { timing = values; }
    virtual Stats stats() const = 0;
    virtual const Trace& trace(uint32_t number) const = 0;

    int access(bool write, uint32_t address, uint32_t& data, uint32_t strobes = 0xF,
               Waits waits = {}) {
        lite.start(write, address, data, strobes, waits);
        while (!lite.done)
            if (!tick()) return -1;
        data = lite.data;
        return lite.response;
    }

    // One clock cycle; false after an error.  The edge begins the cycle: it takes the inputs into
    // the registers of fast_top.v, and ends the cycle before inside the system.
    bool tick() {
        drive();
        lite.drive(ports.lite);
        for (bool edge : {false, true}) {
            top.clk = edge;
            top.eval();
            dump(edge);
        }
        context.timeInc(1);
        bool moved = sample();
        lite.sample(ports.lite);
        quiet = moved ? 0 : quiet + 1;
        if (moved) digest.note(now);
        advance();
        now++;
        if (timing.watchdog && quiet > timing.watchdog) report_silence();
        return failure.text.empty();
    }

  protected:
    VerilatedContext context;
    Random random;
    Top top;
    Ports ports;
    Lite lite;
#ifdef WAVES
    VerilatedFstC waves;
#endif
    uint64_t now = 0, quiet = 0;
    Digest digest;  // of the cycles in which anything moved, and of what a system adds
    Timing timing{};

    // Inputs for the next cycle; whether anything moved in it; what has moved is withdrawn.
    virtual void drive() = 0;
    virtual bool sample() = 0;
    virtual void advance() = 0;
    // Before and after a reset: nothing is offered, and the system's earlier requests are dropped.
    virtual void forget() {}
    // Text on what is still expected, for the report of a run in which nothing moves.
    virtual void describe(std::ostream& text) const = 0;

    // A cycle: in more, what a register keeps without a reset might leave by itself.
    void reset() {
        top.rst = 1;
        forget();
        tick();
        forget();
        top.rst = 0;
    }

  private:
    static VerilatedContext& prepare(VerilatedContext& context, uint64_t seed) {
        context.randReset(2);  // random content in everything that has no reset
        context.randSeed(int(seed & 0x7FFFFFFF) | 1);
        return context;
    }

    // A cycle takes two steps of the waves' time.
    void dump([[maybe_unused]] bool edge) {
#ifdef WAVES
        if (waves.isOpen()) waves.dump(2 * now + edge);
#endif
    }

    void report_silence() {
        std::ostringstream text;
        text << "nothing moved for " << quiet << " cycles at cycle " << now << ": ";
        describe(text);
        failure.report(text.str());
    }
};

// Functions that Python calls for any system.  Buffers that it hands over stay its own, alive and
// big enough.
extern "C" {

void sim_select(uint32_t mutant) { selected_mutant = mutant; }
void sim_delete(Testbench* sim) { delete sim; }
int sim_write(Testbench* sim, uint32_t address, uint32_t data) {
    return sim->access(true, address, data);
}
int sim_read(Testbench* sim, uint32_t address, uint32_t* data) {
    return sim->access(false, address, *data);
}
int sim_access(Testbench* sim, bool write, uint32_t address, uint32_t* data, uint32_t strobes,
               uint32_t address_waits, uint32_t data_waits, uint32_t answer_waits) {
    return sim->access(write, address, *data, strobes, {address_waits, data_waits, answer_waits});
}
void sim_timing(Testbench* sim, const Timing* timing) { sim->set_timing(*timing); }
void sim_stats(Testbench* sim, Stats* stats) { *stats = sim->stats(); }
uint64_t sim_trace(Testbench* sim, uint32_t number, const uint32_t** words,
                   const uint64_t** cycles) {
    const Trace& trace = sim->trace(number);
    *words = trace.words.data();
    *cycles = trace.cycles.data();
    return trace.count();
}
int sim_waves(Testbench* sim, const char* file) { return !sim->open_waves(file); }
const char* sim_failure(Testbench* sim) { return sim->failure.text.c_str(); }
}
