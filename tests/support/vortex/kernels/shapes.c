/* Accesses of all shapes: bytes, halves and words, strided lanes, stores of several lanes to one
   place, divergence, barriers of a block, a lock taken by one lane after the other. */

#include "vortex.h"

unsigned char bytes[128] __attribute__((aligned(128)));
unsigned short halves[256] __attribute__((aligned(128)));
unsigned words[256] __attribute__((aligned(128)));
unsigned mutex __attribute__((aligned(128))), counter, arrivals;
unsigned result[1] __attribute__((aligned(128)));

void kernel(unsigned argument) {
    unsigned thread = BLOCK() * THREADS() + THREAD();
    VOLATILE(bytes[thread % 128]) = (unsigned char)thread;
    VOLATILE(halves[thread % 128 * 2]) = (unsigned short)thread;
    when (THREAD() & 1) {
        VOLATILE(words[thread % 128]) = thread;
    }
    barrier();
    when (THREAD() < 2) {
        VOLATILE(words[128 + BLOCK() % 128]) = argument;
    }
    barrier();
    each_lane {
        lock(mutex, SCOPE_DEVICE);
        fence_device();
        VOLATILE(counter) = VOLATILE(counter) + 1;
        fence_device();
        unlock(mutex, SCOPE_DEVICE);
    }
    each_lane {
        atomic_add(arrivals, 2, SCOPE_DEVICE);
    }
    barrier();
    when (thread == 0) {
        result[0] = argument;
    }
}
