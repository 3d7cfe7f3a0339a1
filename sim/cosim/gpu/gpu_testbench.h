// Testbench of a Verilated detector of a GPU without Python in the loop: SM queues, memories, traces.
// A shim makes a Sim, or what derives from it.

#pragma once

#include "axi_memory.h"
#include "testbench.h"

#include <algorithm>

// One SM's transactions, and when each may be offered.
struct Queue : Source<TransactionPort, TRANSACTION_WORDS> {
    const uint64_t* order = nullptr;  // of each: its global number, steps that must come first
};

class Sim : public Testbench {
  public:
    Memory metadata, ring;
    // If metadata is preset: where each port's sweep jumps, from and to in turn, and words that it
    // must write.
    const uint64_t* jumps[METADATA_PORTS + 1] = {};
    const uint64_t* jumps_end[METADATA_PORTS + 1] = {};
    const uint64_t* swept[METADATA_PORTS + 1] = {};
    const uint64_t* swept_end[METADATA_PORTS + 1] = {};

    explicit Sim(uint64_t seed) : Testbench(seed) { reset(); }

    using Testbench::reset;

    bool interrupts() const { return ports.interrupt[0].value; }

    // A cycle in which the SMs and the metadata's memory are outside: it says what they offer and
    // take.
    int cycle(SmCycle* sms, SliceCycle* slices) {
        outside = {sms, slices};
        bool goes_on = tick();
        outside = {};
        return goes_on;
    }

    // As if so much had been counted already, of each counter.
    void advance_counters(const uint32_t* by) {
        for (int n = 0; n < COUNTERS; n++) *ports.counters[n] += by[n];
    }

    // As if so many records had been written, while nothing is reported.
    void set_head(uint32_t records) { ports.head[0].value = records; }

    // Offer nothing more than what is offered now.
    void stop() {
        for (auto& queue : queues) queue.count = queue.next + queue.offered;
    }

    // What has happened so far, before software looks whether the hardware is busy.
    void look_at_state() {
        looked = {};
        for (Trace* trace : all_traces()) looked.counts.push_back(trace->count());
        for (int sm = 0; sm < SMS; sm++) looked.taken[sm] = queues[sm].next;
        for (int n = 0; n < COUNTERS; n++) looked.counters[n] = *ports.counters[n];
        looked.settled = settled;
    }
    // It was.
    void state_when_busy() { busy = looked; }
    // Forget what had happened by then; transactions taken and offered, of each SM, and the
    // counters.
    void forget_before(uint64_t* taken, uint64_t* offered, uint32_t* counts) {
        for (int sm = 0; sm < SMS; sm++) offered[sm] = queues[sm].count;
        size_t number = 0;
        for (Trace* trace : all_traces()) trace->forget_first(busy.counts.at(number++));
        settled -= busy.settled;
        std::copy_n(busy.taken, SMS, taken);
        std::copy_n(busy.counters, COUNTERS, counts);
    }

    // So many cycles of a run.
    int begin(uint64_t cycles) {
        while (cycles--)
            if (!tick()) return 1;
        return 0;
    }

    void play(uint32_t sm, const uint32_t* words, const uint64_t* order, uint64_t count) {
        queues[sm].begin(words, count);
        queues[sm].order = order;
        accepted = 0;
    }

    // Forget what earlier transactions have done.
    void prepare() {
        for (Trace* trace : all_traces()) trace->clear();
        settled = 0;
    }

    // Cycles until `steps` steps have been seen and all transactions accepted.
    int run(uint64_t steps) {
        uint64_t goal = accepted;
        for (auto& queue : queues) goal += queue.count - queue.next;
        while (accepted < goal || seen() < steps)
            if (!tick()) return 1;
        return 0;
    }

    Stats stats() const override {
        Stats stats{.cycles = now, .digest = digest.value(), .report_errors = reports.errors};
        for (int port = 0; port < METADATA_PORTS; port++) {
            stats.read_errors += reads[port].errors;
            stats.write_errors += writes[port].errors;
        }
        return stats;
    }

    // Steps of each bank, of each SM the numbers of the transactions that its access buffer has
    // left out, the metadata reads of each port, and what the collector sends.  Of each SM that is
    // shown its fences in flight: its transactions, without payload, and all that it is shown.
    const Trace& trace(uint32_t number) const override {
        if (number < BANKS) return traces[number];
        number -= BANKS;
        if (number < SMS) return left_out[number];
        number -= SMS;
        if (number < METADATA_PORTS) return reads[number].beats;
        number -= METADATA_PORTS;
        if (!number) return told;
        number -= 1;
        return number < SMS ? taken[number] : fencing[number - SMS];
    }

  protected:
    // Metadata come over these wires.
    void share(Wires& wires) {
        for (int port = 0; port < METADATA_PORTS; port++)
            reads[port].wires = writes[port].wires = &wires;
    }

    void drive() override {
        if (outside.sms) drive_outside();
        for (int sm = 0; sm < SMS && !outside.sms; sm++)
            if (may_offer(queues[sm])) queues[sm].offer(ports.transaction[sm]);
        for (int port = 0; port < METADATA_PORTS && !outside.sms; port++) {
            reads[port].drive(ports.metadata[port], timing, random, now);
            writes[port].drive(ports.metadata[port], timing, random, metadata, timing.write_errors,
                               failure, now);
        }
        reports.drive(ports.report, timing, random, ring, timing.write_errors, failure, now);
    }

    bool sample() override {
        bool moved = false, takes = false;
        for (int sm = 0; sm < SMS; sm++) {
            bool taken_now = queues[sm].sample(ports.transaction[sm]);
            moved |= taken_now;
            takes |= ports.transaction[sm].valid && ports.transaction[sm].ready;
            if (FENCING && taken_now) taken[sm].cycles.push_back(now);
        }
        for (int sm = 0; sm < FENCING; sm++) look(sm);
        for (int sm = 0; sm < LEAVING_OUT; sm++)
            if (ports.left_out[sm].value) left_out[sm].take(uint32_t(queues[sm].next), 1, now);
        bool works = sample_memories();
        for (int bank = 0; bank < BANKS; bank++) works |= capture(bank);
        for (int n = 0; n < COLLECTORS; n++) works |= listen(ports.collector[n]);
        hold_to_idle(takes, works);
        if (outside.sms) tell_outside();
        return moved | works;
    }

    void advance() override {
        for (int sm = 0; sm < SMS; sm++)
            if (queues[sm].advance(ports.transaction[sm])) accepted++;
        for (int port = 0; port < METADATA_PORTS; port++) {
            reads[port].advance(ports.metadata[port]);
            writes[port].advance(ports.metadata[port]);
        }
        reports.advance(ports.report);
    }

    void forget() override {
        for (int sm = 0; sm < SMS; sm++) queues[sm].forget(ports.transaction[sm]);
        for (int port = 0; port < METADATA_PORTS; port++) {
            reads[port].forget(ports.metadata[port]);
            writes[port].forget(ports.metadata[port]);
        }
        reports.forget(ports.report);
        was_idle = false;
    }

    void describe(std::ostream& text) const override {
        text << accepted << " transactions accepted, steps by bank";
        for (auto& trace : traces) text << " " << trace.count();
        text << ", transactions waiting by SM";
        for (auto& queue : queues) text << " " << queue.count - queue.next;
    }

    // A transaction that another source than the queues has handed over.
    void note_taken(int sm) {
        if (FENCING) taken[sm].cycles.push_back(now);
    }

  private:
    struct State {
        std::vector<size_t> counts;  // of all traces
        uint64_t taken[SMS] = {}, settled = 0;
        uint32_t counters[COUNTERS + 1] = {};
    };
    State looked, busy;

    std::vector<Trace*> all_traces() {
        std::vector<Trace*> all = {&told};
        for (auto& trace : traces) all.push_back(&trace);
        for (auto* of_sm : {left_out, taken, fencing})
            for (int sm = 0; sm < SMS; sm++) all.push_back(of_sm + sm);
        for (auto& side : reads) all.push_back(&side.beats);
        return all;
    }

    Queue queues[SMS];
    Trace traces[BANKS], left_out[SMS], told, taken[SMS], fencing[SMS];
    uint32_t shown[SMS][FENCING_WORDS] = {};
    uint64_t accepted = 0, settled = 0;
    ReadSide<MetadataPort, SEGMENT_WORDS> reads[METADATA_PORTS + 1];
    WriteSide<MetadataPort, SEGMENT_WORDS> writes[METADATA_PORTS + 1];
    WriteSide<ReportPort> reports;
    bool sweeps[METADATA_PORTS + 1] = {};
    const uint64_t* next_jump[METADATA_PORTS + 1] = {};
    uint64_t begun_at = 0;
    bool was_idle = false;
    struct {
        SmCycle* sms = nullptr;
        SliceCycle* slices = nullptr;
    } outside;

    // Steps, and what a collector has settled.
    uint64_t seen() const {
        uint64_t total = settled;
        for (auto& trace : traces) total += trace.count();
        return total;
    }

    bool sample_memories() {
        bool moved = false;
        for (int port = 0; port < METADATA_PORTS; port++) {
            shorten_sweep(port);
            Timing of_port = timing;
            if (port % 2) of_port.latency += timing.odd_latency;
            moved |= reads[port].sample(ports.metadata[port], of_port, random, metadata, failure,
                                        digest, now);
            moved |= writes[port].sample(ports.metadata[port], timing, random, failure, digest, now);
        }
        Timing of_ring = timing;
        of_ring.latency += timing.ring_latency;
        return moved | reports.sample(ports.report, of_ring, random, failure, digest, now);
    }

    // A system that says that it is idle stays so until an SM hands a transaction over or software
    // writes a register, and works on nothing.
    void hold_to_idle(bool takes, bool works) {
        bool idle = ports.status[0].idle;
        if (was_idle && (works || !idle)) {
            std::ostringstream text;
            text << "in cycle " << now << " the system " << (idle ? "does something" : "is busy")
                 << " by itself, after it has said that it is idle";
            failure.report(text.str());
        }
        was_idle = idle && !takes && !lite.is_writing();
    }

    // Over a memory that is preset, an engine jumps.
    void shorten_sweep(int port) {
        Engine& engine = ports.engine[port];
        bool begins = engine.begun && !sweeps[port];
        sweeps[port] = engine.begun;
        if (metadata.words) return;
        if (begins) begin_sweep(port);
        if (engine.begun && next_jump[port] != jumps_end[port] && engine.index == *next_jump[port]) {
            engine.index = next_jump[port][1];
            next_jump[port] += 2;
        }
    }

    // What a launch has written is swept when the epoch number wraps, of each port when that has
    // nothing more to write; what is written itself has random content before.  With a table of
    // regions, there are no epochs, and all engines begin in one cycle.
    void begin_sweep(int port) {
        next_jump[port] = jumps[port];
        for (auto& word : metadata.reached)
            if (REGIONS > 1 ? begun_at != now : is_of(word.first, port)) word.second = metadata.preset;
        begun_at = now;
        for (auto word = swept[port]; word != swept_end[port]; word++)
            metadata.reached[*word] = random.next();
    }

    // Whether a word of the only region's metadata is a port's.
    static bool is_of(uint64_t word, int port) {
        uint64_t segment = word / SEGMENT_WORDS;
        uint64_t residue = segment >> PORT_BITS & ((uint64_t(1) << RESIDUE_BITS) - 1);
        uint64_t low = segment & ((uint64_t(1) << PORT_BITS) - 1);
        return int(residue % ODD_PORTS << PORT_BITS | low) == port;
    }

    bool may_offer(const Queue& queue) {
        if (!queue.is_free()) return false;
        if (!queue.order) return !random.percent(timing.idle_percent);
        const uint64_t* order = queue.order + 2 * queue.next;
        // What a collector does takes longer than the steps that it follows from.
        return accepted == order[0] && seen() >= order[1] && (!COLLECTORS || was_idle);
    }

    bool listen(const CollectorPort& port) {
        if (!port.valid) return false;
        told.take(port.payload, TOLD_WORDS, now);
        settled += (told.words[TOLD_WORDS * (told.count() - 1)] & TOLD_KINDS) == TOLD_DONE;
        return true;
    }

    void drive_outside() {
        for (int sm = 0; sm < SMS; sm++) {
            auto& port = ports.transaction[sm];
            port.valid = outside.sms[sm].transaction != nullptr;
            if (port.valid) load(port.payload, outside.sms[sm].transaction);
        }
        for (int number = 0; number < METADATA_PORTS; number++) {
            auto& port = ports.metadata[number];
            const SliceCycle& slice = outside.slices[number];
            port.arready = slice.takes_read;
            port.awready = slice.takes_address;
            port.wready = slice.takes_data;
            if (slice.answers_read) reads[number].answer_to(port, slice.answered_id);
            if (slice.answers_write) writes[number].answer_next(port, metadata, failure);
        }
    }

    void tell_outside() {
        for (int sm = 0; sm < SMS; sm++) {
            auto& port = ports.transaction[sm];
            outside.sms[sm].is_taken = port.valid && port.ready;
            port.valid = 0;
        }
        for (int sm = 0; sm < FENCING; sm++) {
            uint32_t words[2] = {};
            store(ports.fencing[sm].value, words);
            outside.sms[sm].fencing = words[0] | uint64_t(words[1]) << 32;
        }
        for (int number = 0; number < METADATA_PORTS; number++) {
            auto& port = ports.metadata[number];
            SliceCycle& slice = outside.slices[number];
            slice.offers_read = port.arvalid;
            slice.read_id = port.arid;
            slice.read_address = port.araddr;
            slice.offers_address = port.awvalid;
            slice.write_address = port.awaddr;
            slice.offers_data = port.wvalid;
            constexpr int WORDS = BANKS / (METADATA_PORTS ? METADATA_PORTS : 1);
            slice.steps = slice.fences = 0;
            for (int word = 0; word < WORDS; word++)
                slice.steps |= uint32_t(bool(ports.trace[WORDS * number + word].valid)) << word;
            for (int lane = 0; lane < OTHER_LANES; lane++)
                slice.fences |=
                    uint32_t(bool(ports.fences[OTHER_LANES * WORDS * number + lane].valid)) << lane;
        }
    }

    // Keep what an SM is shown of its fences if it has changed.
    void look(int sm) {
        uint32_t words[FENCING_WORDS];
        store(ports.fencing[sm].value, words);
        if (!std::memcmp(words, shown[sm], sizeof words)) return;
        std::memcpy(shown[sm], words, sizeof words);
        fencing[sm].take(ports.fencing[sm].value, FENCING_WORDS, now);
    }

    bool capture(int bank) {
        uint64_t before = traces[bank].count();
        if (ports.trace[bank].valid)
            traces[bank].take(ports.trace[bank].payload, STEP_WORDS, now);
        for (int lane = OTHER_LANES * bank; lane < OTHER_LANES * (bank + 1); lane++)
            if (ports.fences[lane].valid)
                traces[bank].take(ports.fences[lane].payload, STEP_WORDS, now);
        return traces[bank].count() != before;
    }
};

// Functions that Python calls besides those of testbench.h.
extern "C" {

void sim_metadata(Sim* sim, uint64_t base, uint64_t* words, uint64_t count) {
    sim->metadata = {base, count, words};
}
void sim_preset(Sim* sim, uint64_t base, uint64_t preset, uint64_t count) {
    sim->metadata = {base, count, nullptr, preset};
}
void sim_jumps(Sim* sim, uint32_t port, const uint64_t* jumps, uint64_t count, const uint64_t* swept,
               uint64_t swept_count) {
    sim->jumps[port] = jumps;
    sim->jumps_end[port] = jumps + 2 * count;
    sim->swept[port] = swept;
    sim->swept_end[port] = swept + swept_count;
}
// Indices of the words reached, as many as `indices` takes; how many there are.
uint64_t sim_reached(Sim* sim, uint64_t* indices, uint64_t count) {
    for (auto& word : sim->metadata.reached) {
        if (!count--) break;
        *indices++ = word.first;
    }
    return sim->metadata.reached.size();
}
void sim_entries(Sim* sim, const uint64_t* indices, uint64_t count, uint64_t* entries) {
    for (uint64_t n = 0; n < count; n++)
        for (uint64_t word = 0; word < ENTRY_WORDS; word++)
            *entries++ = *sim->metadata.at(sim->metadata.base + 8 * (ENTRY_WORDS * indices[n] + word));
}
void sim_ring(Sim* sim, uint64_t base, uint64_t* words, uint64_t count) {
    sim->ring = {base, count, words};
}
void sim_transactions(Sim* sim, uint32_t sm, const uint32_t* words, const uint64_t* order,
                      uint64_t count) {
    sim->play(sm, words, order, count);
}
void sim_advance_counters(Sim* sim, const uint32_t* by) { sim->advance_counters(by); }
void sim_set_head(Sim* sim, uint32_t records) { sim->set_head(records); }
void sim_look(Sim* sim) { sim->look_at_state(); }
void sim_look_at_busy(Sim* sim) { sim->state_when_busy(); }
void sim_forget(Sim* sim, uint64_t* taken, uint64_t* offered, uint32_t* counts) {
    sim->forget_before(taken, offered, counts);
}
void sim_stop(Sim* sim) { sim->stop(); }
int sim_interrupt(Sim* sim) { return sim->interrupts(); }
void sim_prepare(Sim* sim) { sim->prepare(); }
int sim_run(Sim* sim, uint64_t steps) { return sim->run(steps); }
int sim_begin(Sim* sim, uint64_t cycles) { return sim->begin(cycles); }
int sim_cycle(Sim* sim, SmCycle* sms, SliceCycle* slices) { return sim->cycle(sms, slices); }
void sim_reset(Sim* sim) { sim->reset(); }
}
