// The part of LZ4's interface that Verilator's FST writer calls, so that waves need no LZ4 library.
//
// A sequence is a token (literals in the upper, match length less 4 in the lower half; 15 continues
// in bytes), the literals, and the match's distance in two bytes.  The last five bytes are
// literals.

#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace racetrap {

class Lz4Block {
  public:
    Lz4Block(const char* source, int size, char* target)
        : source(reinterpret_cast<const uint8_t*>(source)), size(size), end(target) {}

    char* compress() {
        std::vector<int> places(1 << PLACE_BITS, -1);  // where a hash of four bytes was last seen
        int at = 0;
        while (at < size - LAST_MATCH) {
            int& place = places[word(at) * 2654435761u >> (32 - PLACE_BITS)];
            int before = place;
            place = at;
            if (before < 0 || at - before > MOST_DISTANCE || word(before) != word(at)) {
                at++;
                continue;
            }
            int length = LEAST_MATCH;
            while (at + length < size - LAST_LITERALS && source[before + length] == source[at + length])
                length++;
            sequence(at - begun, length - LEAST_MATCH);
            *end++ = char(at - before);
            *end++ = char((at - before) >> 8);
            more(length - LEAST_MATCH);
            begun = at += length;
        }
        sequence(size - begun, 0);
        return end;
    }

  private:
    static constexpr int LEAST_MATCH = 4, LAST_LITERALS = 5, LAST_MATCH = 12;
    static constexpr int MOST_DISTANCE = 65535, PLACE_BITS = 12, HALF = 15;
    const uint8_t* source;
    int size, begun = 0;
    char* end;

    uint32_t word(int at) const {
        uint32_t value;
        std::memcpy(&value, source + at, sizeof value);
        return value;
    }

    // Token and literals; the match follows.
    void sequence(int literals, int match) {
        *end++ = char((literals < HALF ? literals : HALF) << 4 | (match < HALF ? match : HALF));
        more(literals);
        std::memcpy(end, source + begun, literals);
        end += literals;
    }

    // What a half of the token could not hold.
    void more(int length) {
        if (length < HALF) return;
        for (length -= HALF; length >= 255; length -= 255) *end++ = char(255);
        *end++ = char(length);
    }
};

}  // namespace racetrap

inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

inline int LZ4_compress_default(const char* source, char* target, int size, int capacity) {
    if (capacity < LZ4_compressBound(size)) return 0;
    return int(racetrap::Lz4Block(source, size, target).compress() - target);
}
