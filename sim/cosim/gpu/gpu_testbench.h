// Testbench of a Verilated detector of a GPU without Python in the loop: SM queues, memories, traces.
// A shim makes a Sim, or what derives from it.

#pragma once

#include "axi_memory.h"
#include "testbench.h"

// One SM's transactions, and when each may be offered.
struct Queue : Source<TransactionPort, TRANSACTION_WORDS> {
    const uint64_t* order = nullptr;  // of each: its global number, steps that must come first
};

class Sim : public Testbench {
  public:
    Memory metadata, ring;
    const uint64_t* last_segments = nullptr;  // of each port, if metadata is preset

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
        for (auto& trace : traces) trace.clear();
        for (auto& trace : left_out) trace.clear();
        told.clear();
        for (auto& trace : taken) trace.clear();
        for (auto& trace : fencing) trace.clear();
        settled = 0;
        for (auto& side : reads) side.beats.clear();
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
        Stats stats{.cycles = now, .report_errors = reports.errors};
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
        bool moved = false;
        for (int sm = 0; sm < SMS; sm++) {
            bool takes = queues[sm].sample(ports.transaction[sm]);
            moved |= takes;
            if (FENCING && takes) taken[sm].cycles.push_back(now);
        }
        for (int sm = 0; sm < FENCING; sm++) look(sm);
        for (int sm = 0; sm < LEAVING_OUT; sm++)
            if (ports.left_out[sm].value) left_out[sm].take(uint32_t(queues[sm].next), 1, now);
        for (int port = 0; port < METADATA_PORTS; port++) {
            shorten_sweep(port);
            moved |= reads[port].sample(ports.metadata[port], timing, random, metadata, failure, now);
            moved |= writes[port].sample(ports.metadata[port], timing, random, failure, now);
        }
        moved |= reports.sample(ports.report, timing, random, failure, now);
        for (int bank = 0; bank < BANKS; bank++) moved |= capture(bank);
        for (int n = 0; n < COLLECTORS; n++) moved |= listen(ports.collector[n]);
        if (outside.sms) tell_outside();
        return moved;
    }

    void advance() override {
        for (int sm = 0; sm < SMS; sm++)
            if (queues[sm].advance(ports.transaction[sm])) {
                accepted++;
                accepted_at = now;
            }
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
    Queue queues[SMS];
    Trace traces[BANKS], left_out[SMS], told, taken[SMS], fencing[SMS];
    uint32_t shown[SMS][FENCING_WORDS] = {};
    uint64_t accepted = 0, accepted_at = 0, settled = 0;
    ReadSide<MetadataPort, SEGMENT_WORDS> reads[METADATA_PORTS + 1];
    WriteSide<MetadataPort, SEGMENT_WORDS> writes[METADATA_PORTS + 1];
    WriteSide<ReportPort> reports;
    bool sweeps[METADATA_PORTS + 1] = {};
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

    // Over a memory that is preset, an engine that has just begun skips to its last segment.
    void shorten_sweep(int port) {
        Engine& engine = ports.engine[port];
        bool begins = engine.begun && !sweeps[port];
        sweeps[port] = engine.begun;
        if (!begins || metadata.words) return;
        engine.index = last_segments[port];
        // What a launch has written is swept when the epoch number wraps.
        for (auto& word : metadata.reached) word.second = metadata.preset;
    }

    bool may_offer(const Queue& queue) {
        if (!queue.is_free()) return false;
        if (!queue.order) return !random.percent(timing.idle_percent);
        const uint64_t* order = queue.order + 2 * queue.next;
        return accepted == order[0] && seen() >= order[1] && is_quiet();
    }

    // Whether no SM waits for the collector: its port is then ready, some cycles after a transfer.
    bool is_quiet() const {
        if (!COLLECTORS) return true;
        for (auto& port : ports.transaction)
            if (!port.ready) return false;
        return now > accepted_at + 4;
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
void sim_preset(Sim* sim, uint64_t base, uint64_t preset, uint64_t count, const uint64_t* last) {
    sim->last_segments = last;
    sim->metadata = {base, count, nullptr, preset};
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
int sim_interrupt(Sim* sim) { return sim->interrupts(); }
void sim_prepare(Sim* sim) { sim->prepare(); }
int sim_run(Sim* sim, uint64_t steps) { return sim->run(steps); }
int sim_begin(Sim* sim, uint64_t cycles) { return sim->begin(cycles); }
int sim_cycle(Sim* sim, SmCycle* sms, SliceCycle* slices) { return sim->cycle(sms, slices); }
void sim_reset(Sim* sim) { sim->reset(); }
}
