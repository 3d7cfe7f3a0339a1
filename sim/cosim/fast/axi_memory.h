// AXI4 subordinates with a memory behind them, for any manager port that ports.h describes.
//
// A cycle is drive() before its clock edge, sample() after the inputs have settled.  Reads of
// different ids may be answered in any order; writes are answered in order and take effect at
// the latest moment the protocol allows, when the response is shown.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <type_traits>
#include <unordered_map>

#include "testbench.h"

// Words of a buffer; or without one, words by index, of which those never reached hold `preset`.
struct Memory {
    uint64_t base = 0, count = 0;
    uint64_t* words = nullptr;
    uint64_t preset = 0;
    std::unordered_map<uint64_t, uint64_t> reached;  // a word stays where it is

    uint64_t* at(uint64_t address) {
        uint64_t index = (address - base) / 8;
        if (address % 8 || address < base || index >= count) return nullptr;
        return words ? words + index : &reached.try_emplace(index, preset).first->second;
    }
};

constexpr uint8_t SLVERR = 2;

// The wires of a memory that others use, too: what begins takes them for some cycles.
struct Wires {
    uint64_t cycles = 0;  // of 16 bytes; 0: nothing waits
    uint64_t free = 0;

    // When so many bytes that are asked for now begin.
    uint64_t begin(uint64_t now, uint64_t bytes) {
        if (!bytes) return now;
        uint64_t at = std::max(now, free);
        free = at + (bytes + 15) / 16 * cycles;
        return at;
    }
};

// The code of AxSIZE for beats of so many 64-bit words.
constexpr int size_of_beat(int words) { return words == 1 ? 3 : 1 + size_of_beat(words / 2); }

// A channel that the device drives: once valid, it stays valid and unchanged until ready.
template <class Payload> class Held {
    static_assert(std::has_unique_object_representations_v<Payload>);

  public:
    bool is_kept(bool valid, bool ready, const Payload& payload) {
        bool kept = !waits || (valid && !std::memcmp(&payload, &last, sizeof last));
        waits = valid && !ready;
        last = payload;
        return kept;
    }
    void forget() { waits = false; }

  private:
    bool waits = false;
    Payload last{};
};

// An address that is offered, by AXI4 (IHI 0022, A3.4), and as a device without exclusive accesses
// and caches of its own makes it.
struct Address {
    uint64_t id, address, length, size, burst, lock, cache, prot;
    // What is wrong with it, or null.
    const char* fault(int beat_bytes) const {
        if (size != uint64_t(size_of_beat(beat_bytes / 8)) || address % beat_bytes)
            return "must have beats of its port's size, aligned to it";
        if (burst != BURST_INCR) return "must be an INCR burst";
        if (address % PAGE_BYTES + (length + 1) * beat_bytes > PAGE_BYTES)
            return "must not cross a page of 4,096 bytes";
        return lock || cache || prot ? "must have LOCK, CACHE and PROT of 0" : nullptr;
    }
};

// Single beats of WORDS 64-bit words.
template <class Port, int WORDS = 1> class ReadSide {
  public:
    Trace beats;  // their cycles only
    uint64_t errors = 0;
    Wires own, *wires = &own;  // or those that it shares

    void drive(Port& port, const Timing& timing, Random& random, uint64_t now) {
        port.arready = !random.percent(timing.back_pressure);
        if (!port.rvalid && !pending.empty() && !random.percent(timing.back_pressure))
            answer(port, timing, random, now);
    }

    // Answers the oldest read of an id now.
    void answer_to(Port& port, uint32_t id) {
        size_t chosen = 0;
        while (chosen + 1 < pending.size() && pending[chosen].id != id) chosen++;
        if (chosen == pending.size()) return;
        uint64_t beat[WORDS];
        for (int number = 0; number < WORDS; number++) beat[number] = *pending[chosen].words[number];
        show(port, chosen, beat, 0);
    }

    // True if anything moved.
    bool sample(Port& port, const Timing& timing, Random& random, Memory& memory, Failure& failure,
                Digest& digest, uint64_t now) {
        bool moved = false;
        if (port.rvalid && port.rready) {
            beats.cycles.push_back(now);
            taken = moved = true;
        }
        Address asked{port.arid,    port.araddr, port.arlen,   port.arsize,
                      port.arburst, port.arlock, port.arcache, port.arprot};
        if (!held.is_kept(port.arvalid, port.arready, asked))
            failure.report("read address must stay until it is taken");
        if (port.arvalid && port.arready) {
            moved = true;
            if (const char* fault = asked.fault(8 * WORDS))
                failure.report(std::string("read ") + fault);
            digest.note(asked.address);
            uint64_t begin = wires->begin(now, 8 * WORDS);
            Request request = {uint32_t(port.arid), bool(random.next() >> 63),
                               begin + timing.latency + random.below(timing.jitter + 1)};
            bool fits = !port.arlen;
            for (int number = 0; number < WORDS && fits; number++) {
                request.words[number] = memory.at(port.araddr + 8 * number);
                fits = request.words[number] != nullptr;
                if (fits) request.early[number] = *request.words[number];
            }
            if (fits) pending.push_back(request);
            else failure.report("metadata read of a bad address or length");
        }
        return moved;
    }

    // After the clock edge: withdraw an answer that was taken.
    void advance(Port& port) {
        if (taken) port.rvalid = 0;
        taken = false;
    }

    // At reset: pending requests are dropped.
    void forget(Port& port) {
        pending.clear();
        held.forget();
        port.rvalid = taken = false;
    }

  private:
    struct Request {
        uint32_t id;
        bool use_early;
        uint64_t due;
        const uint64_t* words[WORDS];
        uint64_t early[WORDS];  // the words when the request came
    };
    std::deque<Request> pending;
    Held<Address> held;
    bool taken = false;

    void answer(Port& port, const Timing& timing, Random& random, uint64_t now) {
        size_t chosen = 0, size = pending.size();
        if (timing.reorder) {
            size_t start = random.below(size), step = 0;
            while (step < size && pending[(start + step) % size].due > now) step++;
            if (step == size) return;
            chosen = (start + step) % size;
        }
        const Request& request = pending[chosen];
        if (request.due > now) return;
        bool error = random.below(65536) < timing.read_errors;
        errors += error;
        uint64_t beat[WORDS];
        for (int number = 0; number < WORDS; number++)
            beat[number] = error               ? random.next()
                           : request.use_early ? request.early[number]
                                               : *request.words[number];
        show(port, chosen, beat, error ? SLVERR : 0);
    }

    void show(Port& port, size_t chosen, const uint64_t* beat, uint8_t response) {
        port.rvalid = 1;
        port.rid = pending[chosen].id;
        port.rresp = response;
        load(port.rdata, reinterpret_cast<const uint32_t*>(beat));
        port.rlast = 1;
        if (chosen) pending.erase(pending.begin() + chosen);
        else pending.pop_front();
    }
};

// Bursts of beats of WORDS 64-bit words, each word with all of its strobes or none.
template <class Port, int WORDS = 1> class WriteSide {
  public:
    uint64_t errors = 0;
    Wires own, *wires = &own;  // or those that it shares

    void drive(Port& port, const Timing& timing, Random& random, Memory& memory,
               uint32_t error_rate, Failure& failure, uint64_t now) {
        port.awready = !random.percent(timing.back_pressure);
        port.wready = !random.percent(timing.back_pressure);
        if (port.bvalid || complete.empty() || complete.front().due > now ||
            random.percent(timing.back_pressure))
            return;
        bool error = random.below(65536) < error_rate;
        errors += error;
        answer_next(port, memory, failure, error ? SLVERR : 0);
    }

    // Answers the oldest write now.
    void answer_next(Port& port, Memory& memory, Failure& failure, uint8_t response = 0) {
        if (complete.empty()) return;
        Burst burst = complete.front();
        complete.pop_front();
        for (uint32_t beat = 0; beat < burst.length; beat++) {
            for (int number = 0; number < WORDS; number++) {
                if (!(data.front().strobes >> 8 * number & 1)) continue;
                uint64_t* word = memory.at(burst.address + 8 * (WORDS * beat + number));
                if (word) *word = data.front().words[number];
                else failure.report("write outside its memory");
            }
            data.pop_front();
        }
        claimed -= burst.length;
        port.bvalid = 1;
        port.bid = burst.id;
        port.bresp = response;
    }

    bool sample(Port& port, const Timing& timing, Random& random, Failure& failure, Digest& digest,
                uint64_t now) {
        bool moved = false;
        if (port.bvalid && port.bready) taken = moved = true;
        Address asked{port.awid,    port.awaddr, port.awlen,   port.awsize,
                      port.awburst, port.awlock, port.awcache, port.awprot};
        if (!held_address.is_kept(port.awvalid, port.awready, asked))
            failure.report("write address must stay until it is taken");
        if (port.awvalid && port.awready) {
            moved = true;
            if (const char* fault = asked.fault(8 * WORDS))
                failure.report(std::string("write ") + fault);
            digest.note(asked.address);
            if (asked.id) failure.report("write must have id 0, which keeps writes in order");
            addresses.push_back({uint32_t(port.awid), uint64_t(port.awaddr), port.awlen + 1u, 0});
        }
        Beat beat = {{}, uint64_t(port.wstrb), port.wlast};
        store(port.wdata, reinterpret_cast<uint32_t*>(beat.words.data()));
        if (!held_beat.is_kept(port.wvalid, port.wready, beat))
            failure.report("write data must stay until they are taken");
        if (port.wvalid && port.wready) {
            moved = true;
            bool whole = beat.strobes != 0;
            for (int number = 0; number < WORDS; number++) {
                uint64_t of_word = beat.strobes >> 8 * number & 0xFF;
                whole &= of_word == 0xFF || (of_word == 0 && WORDS > 1);
            }
            if (!whole) failure.report("write with a byte strobe low");
            for (uint64_t word : beat.words) digest.note(word);
            data.push_back(beat);
        }
        collect(timing, random, failure, now);
        return moved;
    }

    void advance(Port& port) {
        if (taken) port.bvalid = 0;
        taken = false;
    }

    // At reset: what has not been answered is not written.
    void forget(Port& port) {
        addresses.clear();
        complete.clear();
        data.clear();
        held_address.forget();
        held_beat.forget();
        claimed = 0;
        port.bvalid = taken = false;
    }

  private:
    struct Burst {
        uint32_t id;
        uint64_t address;
        uint32_t length;
        uint64_t due;
    };
    struct Beat {
        std::array<uint64_t, WORDS> words;
        uint64_t strobes, last;
    };
    std::deque<Burst> addresses, complete;
    std::deque<Beat> data;  // the first `claimed` belong to complete bursts
    Held<Address> held_address;
    Held<Beat> held_beat;
    size_t claimed = 0;
    bool taken = false;

    void collect(const Timing& timing, Random& random, Failure& failure, uint64_t now) {
        while (!addresses.empty() && data.size() - claimed >= addresses.front().length) {
            Burst burst = addresses.front();
            addresses.pop_front();
            for (uint32_t beat = 0; beat < burst.length; beat++)
                if (bool(data[claimed + beat].last) != (beat + 1 == burst.length))
                    failure.report("WLAST elsewhere than on a burst's last beat");
            claimed += burst.length;
            uint64_t begin = wires->begin(now, 8 * WORDS * burst.length);
            burst.due = begin + timing.latency + random.below(timing.jitter + 1);
            complete.push_back(burst);
        }
    }
};
