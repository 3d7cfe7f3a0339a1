// Plays an issue stream into a Verilated front end, answers each CAS in any order, and writes down
// what leaves: all streams pause at random, and resets come amid traffic.
//
// issue_volume SEED, with the files that issue_volume.py writes and reads in the current folder.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vfront_end.h"
#include "verilated.h"

template <class T> void load(T& port, const uint32_t* words) {
    uint64_t value = words[0];
    if (sizeof(T) > 4) value |= uint64_t(words[1]) << 32;
    port = T(value);
}
template <std::size_t N> void load(VlWide<N>& port, const uint32_t* words) {
    std::memcpy(port.data(), words, 4 * N);
}
template <class T> void store(const T& port, uint32_t* words) {
    words[0] = uint32_t(port);
    if (sizeof(T) > 4) words[1] = uint32_t(uint64_t(port) >> 32);
}
template <std::size_t N> void store(const VlWide<N>& port, uint32_t* words) {
    std::memcpy(words, port.data(), 4 * N);
}

template <class T> static std::vector<T> read(const char* name) {
    std::FILE* file = std::fopen(name, "rb");
    if (!file) std::exit(3);
    std::fseek(file, 0, SEEK_END);
    std::vector<T> values(std::ftell(file) / sizeof(T));
    std::rewind(file);
    if (std::fread(values.data(), sizeof(T), values.size(), file) != values.size()) std::exit(3);
    std::fclose(file);
    return values;
}
template <class T> static void write(const char* name, const std::vector<T>& values) {
    std::FILE* file = std::fopen(name, "wb");
    std::fwrite(values.data(), sizeof(T), values.size(), file);
    std::fclose(file);
}

static uint64_t state;
static uint32_t below(uint32_t count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return uint32_t(state >> 20) % count;
}

static int fail(const char* what, uint64_t cycle) {
    std::printf("%s in cycle %llu\n", what, (unsigned long long)cycle);
    return 2;
}

int main(int, char** arguments) {
    state = std::strtoull(arguments[1], nullptr, 10) * 2654435769u + 1;
    VerilatedContext context;
    context.randReset(2);
    context.randSeed(int(below(1u << 30) + 1));
    Vfront_end top(&context);
    // Of each instruction: its words; then whether it is a CAS, and its outcome's words.
    const auto instructions = read<uint32_t>("instructions"), outcomes = read<uint32_t>("outcomes");
    const auto is_cas = read<uint8_t>("is_cas");
    // Ends of segments; behind each comes a reset, at once or when all has left.
    const auto ends = read<uint32_t>("ends");
    const auto drains = read<uint8_t>("drains");
    const std::size_t wide = instructions.size() / is_cas.size();
    const std::size_t answer_wide = outcomes.size() / is_cas.size();
    std::vector<uint32_t> left, order, left_ends, order_ends, word(WORDS), last(WORDS);
    uint64_t cycle = 0, waits[3] = {0, 0, 0}, full = 0, overtakes = 0;
    std::size_t next = 0;
    for (std::size_t segment = 0; segment < ends.size(); segment++) {
        top.rst = 1;
        for (int clock = 0; clock < 4; clock++) {
            top.clk = clock & 1;
            top.eval();
        }
        top.rst = 0;
        const uint32_t rates[] = {0, 30, 80, 97};
        const uint32_t issue = rates[below(4)], answer = rates[below(4)], take = rates[below(4)];
        std::vector<uint32_t> pending;
        bool offers = false, answers = false, held = false;
        std::size_t chosen = 0;
        uint64_t moved = cycle;
        while (true) {
            const bool is_issued = next == ends[segment] && !offers;
            if (is_issued && (!drains[segment] || (pending.empty() && top.o_idle))) break;
            if (!offers && next < ends[segment] && below(100) >= issue) {
                load(top.i_instruction___05Fpayload, &instructions[wide * next]);
                offers = true;
            }
            if (!answers && !pending.empty() && below(100) >= answer) {
                chosen = below(uint32_t(pending.size()));
                load(top.i_outcome___05Fpayload, &outcomes[answer_wide * pending[chosen]]);
                answers = true;
            }
            top.i_instruction___05Fvalid = offers;
            top.i_outcome___05Fvalid = answers;
            top.o_transaction___05Fready = below(100) >= take;
            top.clk = 0;
            top.eval();
            store(top.o_transaction___05Fpayload, word.data());
            if (held && (!top.o_transaction___05Fvalid || word != last))
                return fail("A transaction changes before it is taken", cycle);
            held = top.o_transaction___05Fvalid && !top.o_transaction___05Fready;
            last = word;
            if (top.o_transaction___05Fvalid && top.o_transaction___05Fready) {
                left.insert(left.end(), word.begin(), word.end());
                moved = cycle;
            }
            waits[0] += offers && !top.i_instruction___05Fready;
            waits[1] += answers && !top.i_outcome___05Fready;
            waits[2] += held;
            full += pending.size() == PLACES;
            const bool is_taken = offers && top.i_instruction___05Fready;
            const bool is_answered = answers && top.i_outcome___05Fready;
            top.clk = 1;
            top.eval();
            if (is_answered) {
                order.push_back(pending[chosen]);
                overtakes += chosen != 0;
                pending.erase(pending.begin() + long(chosen));
                answers = false;
                moved = cycle;
            }
            if (is_taken) {
                if (is_cas[next]) pending.push_back(uint32_t(next));
                next++;
                offers = false;
                moved = cycle;
            }
            cycle++;
            if (cycle - moved > 5000) return fail("Nothing moves", cycle);
        }
        left_ends.push_back(uint32_t(left.size() / WORDS));
        order_ends.push_back(uint32_t(order.size()));
    }
    write("left", left);
    write("order", order);
    write("left_ends", left_ends);
    write("order_ends", order_ends);
    const char* names[] = {"cycles", "instruction waits", "outcome waits", "transaction waits",
                           "all places taken", "outcome overtakes another"};
    const uint64_t counts[] = {cycle, waits[0], waits[1], waits[2], full, overtakes};
    for (int bin = 0; bin < 6; bin++)
        std::printf("%s: %llu\n", names[bin], (unsigned long long)counts[bin]);
    return 0;
}
