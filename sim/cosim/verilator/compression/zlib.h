// The part of zlib's interface that Verilator's FST writer calls, so that waves need no zlib.
//
// It stores and does not compress: the writer then keeps the original, which is smaller.  Values of
// signals, the bulk of a file, are compressed with LZ4.

#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

using Bytef = unsigned char;
using uLong = unsigned long;
using uLongf = unsigned long;

constexpr int Z_OK = 0, Z_BUF_ERROR = -5;

inline uLong compressBound(uLong size) { return size + 5 * (size / 65535 + 1) + 6; }

inline int compress2(Bytef* target, uLongf* capacity, const Bytef* source, uLong size, int) {
    if (*capacity < compressBound(size)) return Z_BUF_ERROR;
    Bytef* end = target;
    *end++ = 0x78;
    *end++ = 0x01;
    uint32_t low = 1, high = 0;  // of Adler-32
    uLong at = 0;
    do {
        uint16_t length = uint16_t(size - at < 65535 ? size - at : 65535);
        *end++ = at + length == size;
        for (uint16_t word : {length, uint16_t(~length)}) {
            *end++ = Bytef(word);
            *end++ = Bytef(word >> 8);
        }
        for (uint16_t n = 0; n < length; n++) {
            low = (low + source[at + n]) % 65521;
            high = (high + low) % 65521;
        }
        std::memcpy(end, source + at, length);
        end += length;
        at += length;
    } while (at < size);
    uint32_t sum = high << 16 | low;
    for (int shift = 24; shift >= 0; shift -= 8) *end++ = Bytef(sum >> shift);
    *capacity = uLongf(end - target);
    return Z_OK;
}
