/* A kernel that does not end. */

#include "vortex.h"

void kernel(unsigned argument) {
    (void)argument;
    for (;;) {
        fence_block();
    }
}
