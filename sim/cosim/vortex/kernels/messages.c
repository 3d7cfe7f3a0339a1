/* A message from one block to another: block 0 writes, block 1 reads when the flag is set.

   RACE=1: without fences. */

#include "vortex.h"

unsigned data, flag, result[1];

void kernel(unsigned argument) {
    (void)argument;
    when (THREAD() == 0) {
        when (BLOCK() == 0) {
            VOLATILE(data) = 42;
#ifndef RACE
            fence_device();
#endif
            atomic_exchange(flag, 1, SCOPE_DEVICE);
        }
        when (BLOCK() == 1) {
            while (!atomic_load(flag, SCOPE_DEVICE)) {
            }
#ifndef RACE
            fence_device();
#endif
            result[0] = VOLATILE(data);
        }
    }
}
