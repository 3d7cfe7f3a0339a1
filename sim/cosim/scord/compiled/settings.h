// Fields of packed words: records of 32-bit words, least significant word first.
#ifndef SETTINGS_H
#define SETTINGS_H

#include "twins.h"

inline uint64_t get(const Field &at, const uint32_t *words) {
    uint64_t value = 0;
    unsigned index = at.offset / 32, shift = at.offset % 32, done = 0;
    while (done < at.width) {
        value |= uint64_t(words[index++] >> shift) << done;
        done += 32 - shift;
        shift = 0;
    }
    return at.width < 64 ? value & ((uint64_t(1) << at.width) - 1) : value;
}

// Sets a field that is 0.
inline void put(const Field &at, uint32_t *words, uint64_t value) {
    unsigned index = at.offset / 32, shift = at.offset % 32, done = 0;
    while (done < at.width) {
        words[index++] |= uint32_t(value >> done << shift);
        done += 32 - shift;
        shift = 0;
    }
}

#endif
