// Memory of Vortex cores: one memory behind windows, an L1 for each core that no one keeps coherent,
// and memory of each core's own for code and stacks.

#pragma once

#include "twins.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

constexpr uint32_t LINE = 64, LINES = 64;

inline uint64_t bits_of(const uint32_t* words, int high, int low) {
    uint64_t value = 0;
    for (int bit = high; bit >= low; bit--) value = value << 1 | (words[bit / 32] >> bit % 32 & 1);
    return value;
}

// A request of 16 bytes at a core's data port.
struct Request {
    bool store, flush;
    uint32_t address;  // of the first byte
    uint8_t data[16];
    uint16_t bytes;
    uint64_t tag, uuid;

    explicit Request(const uint32_t* words) {
        auto bits = [&](int high, int low) { return bits_of(words, high, low); };
        store = bits(232, 232);
        address = uint32_t(bits(231, 204)) << 4;
        for (int n = 0; n < 16; n++) data[n] = uint8_t(bits(83 + 8 * n, 76 + 8 * n));
        bytes = uint16_t(bits(75, 60));
        flush = bits(47, 47);
        tag = bits(46, 0);
        uuid = tag >> 3;
    }
    uint32_t window() const { return address >> 28; }
    uint32_t warp() const { return uuid >> 32 & 3; }
    // Grows from instruction to instruction of a warp; elements of a packed load have their own.
    uint32_t key() const { return uint32_t(uuid << 8) | (uuid >> 24 & 0xFF); }
};

// A direct-mapped cache that writes back.
class Cache {
  public:
    // The line of an address, fetched from memory if it is not there; lines that were moved.
    int fetch(uint32_t place, std::vector<uint8_t>& memory) {
        Line& line = of(place);
        if (line.valid && line.place == place / LINE) return 0;
        int moved = 1 + write_back(line, memory);
        line = Line{true, place / LINE};
        std::memcpy(line.data, &memory[place / LINE * LINE], LINE);
        return moved;
    }
    uint8_t* at(uint32_t place) { return &of(place).data[place % LINE]; }
    void dirty(uint32_t place) { of(place).dirty[place % LINE] = true; }
    // Write back and forget the line of an address, or all.
    int evict(uint32_t place, std::vector<uint8_t>& memory) {
        Line& line = of(place);
        return line.valid && line.place == place / LINE ? write_back(line, memory) : 0;
    }
    int flush(std::vector<uint8_t>& memory) {
        int written = 0;
        for (auto& line : lines) written += write_back(line, memory);
        return written;
    }

  private:
    struct Line {
        bool valid = false;
        uint32_t place = 0;
        uint8_t data[LINE] = {};
        bool dirty[LINE] = {};
    };
    Line lines[LINES];

    Line& of(uint32_t place) { return lines[place / LINE % LINES]; }
    bool write_back(Line& line, std::vector<uint8_t>& memory) {
        bool written = false;
        for (uint32_t n = 0; line.valid && n < LINE; n++)
            if (line.dirty[n]) {
                memory[line.place * LINE + n] = line.data[n];
                written = true;
            }
        line = Line{};
        return written;
    }
};

// What a request has found, and what it has moved to and from the memory that all share.
struct Answer {
    uint8_t data[16];
    bool is_past = false;  // whether it has itself gone past the L1
    int lines = 0;         // lines of the L1 that it has moved
    bool is_free = false;  // what a load from LOCK has found

    uint64_t bytes() const { return (is_past ? 16 : 0) + LINE * uint64_t(lines); }
};

class Memories {
  public:
    std::vector<uint8_t> shared;
    std::vector<std::vector<uint8_t>> own;
    std::vector<Cache> caches;
    bool has_caches = false;
    std::string console, failure;

    // Perform a request at once.
    Answer perform(int core, const Request& request) {
        Answer answer{};
        uint32_t window = request.window(), kind = window & 7, place = request.address & 0x0FFFFFFF;
        if (request.flush) {
            answer.is_past = true;
            if (has_caches) answer.lines = caches[core].flush(shared);
            return answer;
        }
        if (window == WINDOW_CODE) return access(own[core], place, request);
        if (!window) {
            if (request.store) console += char(request.data[first(request)]);
            return answer;
        }
        if (!is_monitored(window)) {
            fail(core, request);
            return answer;
        }
        if (place + 16 > shared.size()) {
            fail(core, request);
            return answer;
        }
        if (kind == WINDOW_WEAK && has_caches) return cached(caches[core], place, request);
        int lines = has_caches ? caches[core].evict(place, shared) : 0;
        answer = past(kind, place, request);
        answer.is_past = true;
        answer.lines = lines;
        return answer;
    }

    static bool is_monitored(uint32_t window) { return MONITORED >> window & 1; }

  private:
    Answer past(uint32_t kind, uint32_t place, const Request& request) {
        if (kind == WINDOW_COUNT) return count(place, request);
        Answer answer = access(shared, place, request);
        if (kind != WINDOW_LOCK || request.store) return answer;
        int byte = first(request);
        answer.is_free = true;
        for (int n = byte; n < 16 && request.bytes >> n & 1; n++) answer.is_free &= !answer.data[n];
        for (int n = byte; n < 16 && request.bytes >> n & 1; n++) shared[place + n] = n == byte;
        return answer;
    }
    static int first(const Request& request) {
        return request.bytes ? __builtin_ctz(request.bytes) : 0;
    }
    Answer access(std::vector<uint8_t>& memory, uint32_t place, const Request& request) {
        Answer answer{};
        if (place + 16 > memory.size()) {
            failure = "Address must be in memory";
            return answer;
        }
        std::memcpy(answer.data, &memory[place], 16);
        for (int n = 0; request.store && n < 16; n++)
            if (request.bytes >> n & 1) memory[place + n] = request.data[n];
        return answer;
    }
    Answer cached(Cache& cache, uint32_t place, const Request& request) {
        Answer answer{};
        answer.lines = cache.fetch(place, shared);
        std::memcpy(answer.data, cache.at(place), 16);
        for (int n = 0; request.store && n < 16; n++)
            if (request.bytes >> n & 1) {
                *cache.at(place + n) = request.data[n];
                cache.dirty(place + n);
            }
        return answer;
    }
    // Words of a request, each added to.
    Answer count(uint32_t place, const Request& request) {
        Answer answer{};
        std::memcpy(answer.data, &shared[place], 16);
        for (int n = 0; n < 16; n += 4)
            if (request.bytes >> n & 1) {
                uint32_t value, more = 1;
                std::memcpy(&value, &shared[place + n], 4);
                if (request.store) std::memcpy(&more, request.data + n, 4);
                value += more;
                std::memcpy(&shared[place + n], &value, 4);
            }
        return answer;
    }
    void fail(int core, const Request& request) {
        char text[80];
        std::snprintf(text, sizeof text, "core %d accesses %#x, where no memory is", core,
                      request.address);
        if (failure.empty()) failure = text;
    }
};
