// Vortex cores, their memory and their launcher around a Verilated detector with adapters.

#include "core_state.h"
#include "gpu_testbench.h"
#include "memory.h"
#include "strong_order.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>

class VortexSim : public Sim {
  public:
    Memories memories;
    Trace issued[SMS], starts[SMS], instructions[SMS], outcomes[SMS], transactions[SMS], performed[SMS],
        blocks[SMS];

    explicit VortexSim(uint64_t seed) : Sim(seed), seed(seed) {
        for (int sm = 0; sm < SMS; sm++)
            ports.issue[sm].valid = ports.start[sm].valid = ports.found[sm].valid = 0;
        reset();
    }
    ~VortexSim() override {
        for (auto& each : cores)
            if (each.core) functions.destroy(each.core);
    }

    bool open(const char* file) {
        void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (!library) return false;
        auto get = reinterpret_cast<CoreFunctions (*)()>(dlsym(library, "core_functions"));
        functions = get();
        for (int sm = 0; sm < SMS; sm++) cores[sm].core = functions.make(seed + sm);
        memories.own.resize(SMS);
        memories.caches.resize(SMS);
        return true;
    }

    int launch(const uint64_t* given) {
        std::copy_n(given, KernelField_COUNT, kernel.begin());
        memories.has_caches = kernel[KERNEL_L1];
        wires.cycles = kernel[KERNEL_TRANSFER];
        share(wires);
        order.is_kept = kernel[KERNEL_ORDERED];
        next_block = 0;
        resets = 8;
        idle = 0;
        is_running = true;
        uint64_t begin = now;
        while (idle < 64) {
            if (!tick()) return 1;
            if (now - begin > kernel[KERNEL_MOST_CYCLES])
                failure.report("Kernel must end within " + std::to_string(kernel[KERNEL_MOST_CYCLES]) +
                               " cycles");
            if (!memories.failure.empty()) failure.report("Access: " + memories.failure);
        }
        is_running = false;
        if (!order.is_empty()) return refuse_order();
        cycles = now - begin - idle;
        for (auto& cache : memories.caches) cache.flush(memories.shared);
        return 0;
    }

    uint64_t cycles = 0;
    // Cycles in which a core's request has waited for the detector, by DetectorWait.
    uint64_t waits[WAITS] = {};

  protected:
    void drive() override {
        Sim::drive();
        if (!is_running) return;
        for (int sm = 0; sm < SMS; sm++) run_core(sm);
        if (resets) resets--;
    }

    bool sample() override {
        bool moved = Sim::sample();
        for (int sm = 0; sm < SMS; sm++) {
            record(ports.instruction[sm], instructions[sm], INSTRUCTION_WORDS);
            record(ports.outcome[sm], outcomes[sm], 1);
            is_refused[sm] = ports.transaction[sm].valid && !ports.transaction[sm].ready;
            if (record(ports.transaction[sm], transactions[sm], TRANSACTION_WORDS)) accepted(sm);
            if (ports.error[sm].value) refuse(sm);
            moved |= is_running;
            auto& core = cores[sm];
            if (core.offered >= 0 && ports.found[sm].ready) found_is_taken(core);
        }
        bool is_quiet = is_running && !resets && next_block == kernel[KERNEL_BLOCKS] && ports.idle[0].value;
        for (auto& core : cores) is_quiet &= core.is_idle();
        idle = is_quiet ? idle + 1 : 0;
        return moved;
    }

  private:
    uint64_t seed;
    CoreFunctions functions{};
    VortexCore cores[SMS];
    Kernel kernel{};
    Wires wires;
    StrongOrder order;
    uint64_t next_block = 0, resets = 0, idle = 0;
    bool is_running = false;
    bool is_refused[SMS] = {};  // whether the detector has not taken a transaction

    template <class Port> bool record(const Port& port, Trace& trace, int words) {
        bool moves = port.valid && port.ready;
        if (moves) trace.take(port.payload, words, now);
        return moves;
    }

    void refuse(int sm) {
        char text[100];
        const char* what = ports.error[sm].value == ADAPTER_UNSUPPORTED ? "is not supported"
                           : ports.error[sm].value == ADAPTER_LOST     ? "is lost"
                                                                       : "begins a scattered block";
        std::snprintf(text, sizeof text, "instruction of core %d at %#x %s", sm,
                      unsigned(ports.error_pc[sm].value), what);
        failure.report(text);
    }

    void accepted(int sm) {
        note_taken(sm);
        const Trace& all = transactions[sm];
        order.accept(sm, &all.words[all.width * (all.count() - 1)], cores[sm].locking());
    }

    int refuse_order() {
        failure.report("Strong accesses of memory must be those that the detector has accepted");
        return 1;
    }

    void found_is_taken(VortexCore& core) {
        auto& taking = core.takings[core.offered];
        taking.is_taken = true;
        taking.since = now;
        core.offered = -1;
    }

    void run_core(int sm) {
        auto& core = cores[sm];
        auto& pins = core.pins;
        pins.reset = resets > 0;
        ports.issue[sm].valid = ports.start[sm].valid = ports.found[sm].valid = 0;
        answer_takings(sm);
        offer_block(sm);
        pins.fetch_ready = core.fetches.size() < 8;
        pins.fetched_valid = !core.fetches.empty() && core.fetches.front().time <= now &&
                             !(kernel[KERNEL_DETECTOR] && ports.full[sm].value);
        if (pins.fetched_valid) {
            pins.fetched_data = core.fetches.front().data;
            pins.fetched_tag = core.fetches.front().tag;
        }
        size_t ready = core.ready_response(now);
        pins.response_valid = ready < core.responses.size();
        if (pins.response_valid) {
            std::memcpy(pins.response_data, core.responses[ready].data, 16);
            pins.response_tag = core.responses[ready].tag;
        }
        pins.request_ready = false;
        functions.settle(core.core, &pins);
        if (pins.request_valid && !pins.reset) {
            Request request(pins.request_data);
            if (core.responses.size() < 64 && may_perform(sm, request)) {
                pins.request_ready = true;
                functions.settle(core.core, &pins);
                perform(sm, request);
            }
        }
        // What was taken comes before what has just been added behind.
        if (pins.response_valid && pins.response_ready)
            core.responses.erase(core.responses.begin() + ready);
        if (pins.fetched_valid && pins.fetched_ready) core.fetches.pop_front();
        if (pins.fetch_valid && pins.fetch_ready && !pins.reset) fetch(sm);
        if (pins.block_valid && pins.block_ready && !pins.reset) {
            keep(blocks[sm], next_block++);
            core.begun_at = now;
        }
        if (!pins.reset) tell(sm);
        functions.clock(core.core);
    }

    void tell(int sm) {
        auto& pins = cores[sm].pins;
        if (!kernel[KERNEL_DETECTOR]) return;
        if (pins.issue_valid) {
            load(ports.issue[sm].payload, pins.issue_data);
            ports.issue[sm].valid = 1;
            issued[sm].take(ports.issue[sm].payload, 17, now);
        }
        if (pins.start_valid) {
            ports.start[sm].payload = pins.start_warp | pins.start_slot << 2 | pins.start_rank << 4 |
                                      pins.start_count << 6 | pins.start_lanes << 9;
            ports.start[sm].valid = 1;
            starts[sm].take(ports.start[sm].payload, 1, now);
        }
    }

    void fetch(int sm) {
        auto& core = cores[sm];
        uint32_t place = core.pins.fetch_address << 2 & 0x0FFFFFFF, data = 0;
        if (place + 4 <= memories.own[sm].size()) std::memcpy(&data, &memories.own[sm][place], 4);
        core.fetches.push_back({now + 2, core.pins.fetch_tag, data});
    }

    // Its transactions have been taken, no fence of the warp is on its way, and no strong access
    // comes before it.
    bool may_perform(int sm, const Request& request) {
        if (!kernel[KERNEL_DETECTOR]) return true;
        uint32_t passed = ports.passed[sm].value[request.warp()];
        auto is_of_warp = [&](uint32_t warps) { return warps >> request.warp() & 1; };
        if ((passed - request.key()) >> 31 || is_of_warp(uint32_t(ports.held[sm].value)))
            return wait(is_refused[sm] ? WAIT_DETECTOR : WAIT_FRONT_END);
        for (int n = 0; n < FENCING; n++)
            if (n == sm && is_of_warp(uint32_t(ports.fencing[n].value))) return wait(WAIT_FENCE);
        return order.is_next(sm, request) || wait(WAIT_ORDER);
    }

    bool wait(int cause) {
        waits[cause]++;
        return false;
    }

    void perform(int sm, const Request& request) {
        auto& core = cores[sm];
        if (!order.perform(sm, request)) refuse_order();
        Answer answer = memories.perform(sm, request);
        keep(performed[sm], request.uuid);
        uint64_t begin = wires.begin(now, answer.bytes());
        if (request.store && !request.flush) return;
        uint64_t due = begin + 2;
        if (answer.bytes()) due = begin + kernel[KERNEL_LATENCY] + random.below(kernel[KERNEL_JITTER] + 1);
        if (request.flush) due += answer.lines;
        VortexCore::Response response{due, request.tag, {}};
        std::memcpy(response.data, answer.data, 16);
        bool takes = kernel[KERNEL_DETECTOR] && (request.window() & 7) == WINDOW_LOCK && !request.flush &&
                     Memories::is_monitored(request.window());
        if (!takes) {
            core.responses.push_back(response);
            return;
        }
        auto& taking = core.takings[request.warp()];
        taking = {true, false, answer.is_free, now, response};
    }

    void keep(Trace& trace, uint64_t number) {
        size_t begin = 2 * trace.count();
        if (trace.words.size() < begin + 2) trace.words.resize(2 * (begin + 2));
        trace.words[begin] = uint32_t(number);
        trace.words[begin + 1] = uint32_t(number >> 32);
        trace.cycles.push_back(now);
    }

    // Send each outcome, and answer when the transaction that it makes has left.
    void answer_takings(int sm) {
        auto& core = cores[sm];
        for (int warp = 0; warp < 4; warp++) {
            auto& taking = core.takings[warp];
            if (!taking.waits) continue;
            if (taking.response.time < now) wait(WAIT_LOCK);
            if (core.offered < 0 && !taking.is_taken && taking.response.time <= now)
                core.offered = warp;
            if (taking.is_taken && now >= taking.since + 3 && !(ports.held[sm].value >> warp & 1)) {
                core.responses.push_back(taking.response);
                taking = {};
            }
        }
        if (core.offered < 0) return;
        ports.found[sm].valid = 1;
        ports.found[sm].payload = core.offered | core.takings[core.offered].is_free << 2;
    }

    void offer_block(int sm) {
        auto& core = cores[sm];
        auto& pins = core.pins;
        bool is_turn = (now - sm) % SMS == 0;
        bool is_held = pins.block_valid && !pins.block_ready && !pins.reset;
        pins.block_valid = !pins.reset && next_block < kernel[KERNEL_BLOCKS] && (is_turn || is_held) &&
                           core.has_room((kernel[KERNEL_THREADS] + 3) / 4, now);
        if (pins.block_valid) core.give(kernel, next_block);
    }
};

extern "C" {

Testbench* sim_new(uint64_t seed) { return new VortexSim(seed); }
int vortex_open(VortexSim* sim, const char* library) { return !sim->open(library); }
// Bytes of code for every core, or of the memory that all share.
void vortex_place(VortexSim* sim, bool is_code, const uint8_t* bytes, uint64_t count) {
    if (!is_code) sim->memories.shared.assign(bytes, bytes + count);
    for (auto& own : sim->memories.own)
        if (is_code) own.assign(bytes, bytes + count);
}
int vortex_launch(VortexSim* sim, const uint64_t* kernel) { return sim->launch(kernel); }
uint64_t vortex_cycles(VortexSim* sim) { return sim->cycles; }
const uint64_t* vortex_waits(VortexSim* sim) { return sim->waits; }
const uint8_t* vortex_shared(VortexSim* sim) { return sim->memories.shared.data(); }
const char* vortex_console(VortexSim* sim) { return sim->memories.console.c_str(); }
uint64_t vortex_trace(VortexSim* sim, uint32_t kind, uint32_t sm, const uint32_t** words,
                      const uint64_t** cycles) {
    Trace* all[] = {sim->issued, sim->starts, sim->instructions, sim->outcomes, sim->transactions,
                    sim->performed, sim->blocks};
    const Trace& trace = all[kind][sm];
    *words = trace.words.data();
    *cycles = trace.cycles.data();
    return trace.count();
}
}
