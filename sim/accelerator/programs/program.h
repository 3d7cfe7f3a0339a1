// What the programs share: command line, omissions, memory, inputs and results.
//
// A program is called with its size and the names of what it leaves out: single syncs, flushes
// and paddings, each of which it needs.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <racetrap_accelerator.h>

// Lines and granules of the target are no longer.
enum { LINE = 64 };

// Functions of the frame around the program, whose accesses are not the program's.
#define FRAME __attribute__((no_sanitize_thread, noinline, unused)) static

static char **omissions;
static int omission_count;

// Whether the program has what `name` stands for.
FRAME int has(const char *name)
{
    for (int number = 0; number < omission_count; number++) {
        int at = 0;
        while (name[at] && name[at] == omissions[number][at])
            at++;
        if (name[at] == omissions[number][at])
            return 0;
    }
    return 1;
}

// Size of the run, the first argument; the others are omissions.
FRAME int read_arguments(int count, char **arguments, int smallest, int largest)
{
    int size = count > 1 ? atoi(arguments[1]) : 0;
    if (size < smallest || size > largest) {
        fprintf(stderr, "%s: size must be from %d to %d\n", arguments[0], smallest, largest);
        exit(2);
    }
    omissions = arguments + 2;
    omission_count = count - 2;
    return size;
}

FRAME size_t whole_lines(size_t size)
{
    return (size + LINE - 1) / LINE * LINE;
}

// Cached memory; without padding it shares lines with its neighbours.
FRAME void *cached_memory(size_t size)
{
    void *address = has("padding") ? aligned_alloc(LINE, whole_lines(size)) : malloc(size);
    if (!address)
        exit(3);
    return address;
}

// Uncached memory, which engine and CPU share.
FRAME void *shared_memory(size_t size)
{
    void *address = cached_memory(size);
    racetrap_uncached(address, has("padding") ? whole_lines(size) : size);
    return address;
}

// A number that looks random, from its number.
FRAME int32_t noise(uint32_t number)
{
    number = (number ^ 61) ^ number >> 16;
    number *= 9;
    number ^= number >> 4;
    number *= 0x27d4eb2d;
    return (int32_t)(number ^ number >> 15);
}

// Checksum of words, as the CPU reads them.
__attribute__((noinline, unused)) static uint32_t checksum(const volatile int32_t *words, int count)
{
    uint32_t sum = 0x811c9dc5;
    for (int at = 0; at < count; at++)
        sum = (sum ^ (uint32_t)words[at]) * 0x01000193;
    return sum;
}

FRAME int result(const char *name, int errors, uint32_t sum)
{
    printf("%s: %d errors, checksum %08x\n", name, errors, sum);
    return 0;
}
