// Traffic on an AXI4 bus that a monitor listens to: both sides of its channels, with pauses.

#pragma once

#include "ports.h"
#include "testbench.h"
#include "twins.h"

#include <cstdint>
#include <vector>

// Bursts go out in their order, reads and writes each; those of one id end in order, others do not.
// Without a handshake a channel shows anything.
class BusTraffic {
  public:
    std::vector<BusSeen> seen;  // cycles with a handshake that counts

    // `busy`: chance of each channel's sides to be ready, in percent; `together`: bursts in flight.
    void begin(const BusBurst* bursts, uint64_t count, uint64_t together_, uint32_t busy_) {
        all = {bursts, bursts + count};
        together = together_;
        busy = busy_;
        seen.clear();
        for (bool is_write : {false, true}) {
            Side& side = sides[is_write];
            side = {};
            for (const BusBurst& burst : all)
                if (bool(burst.is_write) == is_write) side.waiting.push_back(burst);
        }
    }

    bool is_busy() const { return sides[0].is_busy() || sides[1].is_busy(); }

    void drive(BusPort& port, Random& random) {
        Side &reads = sides[0], &writes = sides[1];
        reads.offer(random, busy, together);
        writes.offer(random, busy, together);
        const BusBurst &read = shown(reads, random), &write = shown(writes, random);
        port.arid = read.id, port.araddr = read.address, port.arlen = read.length;
        port.arsize = read.size, port.arburst = read.burst;
        port.awid = write.id, port.awaddr = write.address, port.awlen = write.length;
        port.awsize = write.size, port.awburst = write.burst;
        port.arvalid = reads.is_offered, port.arready = random.percent(busy);
        port.awvalid = writes.is_offered, port.awready = random.percent(busy);
        reads.answer(random, busy);
        writes.answer(random, busy);
        port.rvalid = reads.has_answer, port.rready = random.percent(busy);
        port.bvalid = writes.has_answer, port.bready = random.percent(busy);
        port.rid = reads.has_answer ? reads.answered().id : any(random).id;
        port.bid = writes.has_answer ? writes.answered().id : any(random).id;
        port.rlast = reads.has_answer ? reads.answered().beats == 1 : random.percent(50);
    }

    // Whether anything moved.
    bool sample(const BusPort& port, uint64_t now) {
        BusSeen cycle{};
        cycle.cycle = now;
        if (port.arvalid && port.arready) {
            cycle.reads = 1, cycle.read = sides[0].waiting[sides[0].next];
            sides[0].begin();
        }
        if (port.awvalid && port.awready) {
            cycle.writes = 1, cycle.write = sides[1].waiting[sides[1].next];
            sides[1].begin();
        }
        bool moved = cycle.reads || cycle.writes;
        if (port.rvalid && port.rready) {
            moved = true, cycle.read_id = port.rid;
            cycle.read_ends = sides[0].end_beat();
        }
        if (port.bvalid && port.bready) {
            moved = true, cycle.write_id = port.bid;
            cycle.write_ends = sides[1].end();
        }
        if (cycle.reads || cycle.writes || cycle.read_ends || cycle.write_ends)
            seen.push_back(cycle);
        return moved;
    }

  private:
    struct Left {
        uint32_t id, beats;
    };
    // Bursts of one direction: those that wait, of which the next may be offered, and those in
    // flight, of which one may be answered.
    struct Side {
        std::vector<BusBurst> waiting;
        std::vector<Left> left;
        size_t next = 0, place = 0;
        bool is_offered = false, has_answer = false;

        bool is_busy() const { return next < waiting.size() || !left.empty(); }
        const Left& answered() const { return left[place]; }

        void offer(Random& random, uint32_t busy, uint64_t together) {
            if (!is_offered && next < waiting.size() && left.size() < together)
                is_offered = random.percent(busy);
        }

        void begin() {
            left.push_back({waiting[next].id, waiting[next].length + 1u});
            next++;
            is_offered = false;
        }

        void answer(Random& random, uint32_t busy) {
            if (has_answer || left.empty() || !random.percent(busy)) return;
            uint32_t id = left[random.below(left.size())].id;
            for (place = 0; left[place].id != id;) place++;
            has_answer = true;
        }

        // The answer was taken: a burst's last, or that to a beat, which may be its last.
        bool end() {
            left.erase(left.begin() + place);
            has_answer = false;
            return true;
        }
        bool end_beat() {
            has_answer = false;
            return --left[place].beats ? false : end();
        }
    };

    const BusBurst& any(Random& random) const {
        static const BusBurst none{};
        return all.empty() ? none : all[random.below(all.size())];
    }
    const BusBurst& shown(const Side& side, Random& random) const {
        return side.is_offered ? side.waiting[side.next] : any(random);
    }

    std::vector<BusBurst> all;
    Side sides[2];  // reads, writes
    uint64_t together = 0;
    uint32_t busy = 0;
};
