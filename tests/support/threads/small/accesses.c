/* Accesses of all kinds: bytes of one word, bit fields, blocks of memory, unaligned words. */
#include <stdint.h>
#include <string.h>

#include "small.h"

/* Not static: a store that nobody reads would be dropped. */
unsigned char bytes[64] __attribute__((aligned(64)));
static volatile int polled;
struct {
    unsigned low : 4, high : 4;
} fields;
struct __attribute__((packed)) {
    char before;
    int64_t word;
} packed;

static void *write_byte_0(void *unused)
{
    bytes[0]++;
    return unused;
}

static void *write_byte_1(void *unused)
{
    bytes[1]++;
    return unused;
}

static void *write_low(void *unused)
{
    fields.low = 1;
    return unused;
}

static void *write_high(void *unused)
{
    fields.high = 1;
    return unused;
}

static void *fill_all(void *unused)
{
    memset(bytes, 1, sizeof bytes);
    return unused;
}

static void *read_last(void *unused)
{
    return bytes[63] == 2 ? NULL : unused;
}

static void *copy_upper(void *unused)
{
    unsigned char copy[32];
    memcpy(copy, bytes + 32, sizeof copy);
    return copy[5] == 2 ? NULL : unused;
}

static void *write_unaligned(void *unused)
{
    packed.word = 1;
    return unused;
}

static void *read_unaligned(void *unused)
{
    return packed.word == 2 ? NULL : unused;
}

static void *write_volatile(void *unused)
{
    polled = 1;
    return unused;
}

static void *read_volatile(void *unused)
{
    return polled == 2 ? NULL : unused;
}

static void neighbour_bytes(void)
{
    both(write_byte_0, write_byte_1);
}

static void same_byte(void)
{
    both(write_byte_1, write_byte_1);
}

static void bit_fields(void)
{
    both(write_low, write_high);
}

static void block_and_byte(void)
{
    both(fill_all, read_last);
}

static void block_and_block(void)
{
    both(fill_all, copy_upper);
}

static void block_read_twice(void)
{
    both(copy_upper, read_last);
}

static void unaligned_word(void)
{
    both(write_unaligned, read_unaligned);
}

static void volatile_word(void)
{
    both(write_volatile, read_volatile);
}

CASES(
    CASE(neighbour_bytes, clean),
    CASE(same_byte, racy),
    CASE(bit_fields, racy),
    CASE(block_and_byte, racy),
    CASE(block_and_block, racy),
    CASE(block_read_twice, clean),
    CASE(unaligned_word, racy),
    CASE(volatile_word, racy),
)
