// The cache against a plain memory on random accesses and maintenance.
//
//     cache SEED ACCESSES
//
// Uncached accesses come only to lines that were flushed before, and an invalidation only after a
// clean: the program is race-free, so nobody may see the cache.  Prints the number of accesses,
// and of words that differ from the plain memory's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "Vcache.h"
#include "constants.h"
#include "verilated.h"

namespace {

constexpr unsigned WORDS = 1024, LONGEST = 100000;

VerilatedContext context;
Vcache top{&context};
std::vector<uint32_t> memory(WORDS), plain(WORDS);
uint64_t state, wrong;

uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return uint32_t((state >> 32) * below >> 32);
}

uint32_t merged(uint32_t word, uint32_t data, unsigned strobes) {
    uint32_t mask = 0;
    for (unsigned byte = 0; byte < 4; byte++)
        if (strobes >> byte & 1) mask |= 0xffu << 8 * byte;
    return (word & ~mask) | (data & mask);
}

// A clock cycle; memory answers some cycles after a request.
void tick() {
    top.clk = 0;
    top.eval();
    bool answers = top.memory__valid && !top.memory__ready && draw(3);
    uint32_t place = top.memory__address / 4 % WORDS, word = memory[place];
    if (answers && top.memory__wstrb)
        memory[place] = merged(word, top.memory__wdata, top.memory__wstrb);
    top.clk = 1;
    top.eval();
    top.memory__ready = answers;
    top.memory__rdata = word;
}

// Cycles until the answer, which is in the cycle that has not ended yet.
template <typename Ready> void await(Ready is_ready) {
    for (unsigned left = LONGEST; left; left--) {
        top.clk = 0;
        top.eval();
        if (is_ready()) return;
        tick();
    }
    std::printf("no answer\n");
    std::exit(3);
}

void access(unsigned word, bool is_cached) {
    static const unsigned choices[] = {0, 0, 1, 8, 6, 15};
    unsigned strobes = choices[draw(6)];
    top.cpu__address = 4 * word;
    top.cpu__wdata = draw(~0u);
    top.cpu__wstrb = strobes;
    top.i_is_cached = is_cached;
    top.cpu__valid = 1;
    await([] { return top.cpu__ready; });
    if (!strobes && top.cpu__rdata != plain[word]) wrong++;
    plain[word] = merged(plain[word], top.cpu__wdata, strobes);
    tick();
    top.cpu__valid = 0;
}

void maintain(unsigned kind, unsigned word, bool is_all) {
    top.maintenance__kind = kind;
    top.maintenance__address = 4 * word;
    top.maintenance__is_all = is_all;
    top.maintenance__valid = 1;
    await([] { return top.maintenance__ready; });
    tick();
    top.maintenance__valid = 0;
}

void step() {
    unsigned word = draw(WORDS), kind = draw(400);
    if (kind < 280) {
        access(word, true);
    } else if (kind < 340) {
        maintain(FLUSH, word, false);
        access(word, false);
    } else if (kind < 398) {
        maintain(CLEAN, word, false);
        maintain(draw(3), word, false);
        access(word, true);
    } else if (kind == 398) {
        // Whatever was written must be in memory.
        maintain(CLEAN, 0, true);
        wrong += memory != plain;
    } else {
        maintain(FLUSH, 0, true);
        access(word, false);
    }
}

}  // namespace

int main(int count, char **arguments) {
    if (count != 3) return 2;
    state = std::strtoull(arguments[1], nullptr, 0) * 0x9e3779b97f4a7c15u | 1;
    uint64_t accesses = std::strtoull(arguments[2], nullptr, 0);
    top.rst = 1;
    for (int cycle = 0; cycle < 4; cycle++) tick();
    top.rst = 0;
    for (uint64_t number = 0; number < accesses; number++) step();
    std::printf("%lu %lu\n", accesses, wrong);
    return 0;
}
