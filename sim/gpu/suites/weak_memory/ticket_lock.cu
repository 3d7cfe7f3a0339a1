// Ticket lock: lane 0 of each warp draws tickets and waits until it is served.

#include "common.cuh"

enum { ROUNDS = 2 };

template <Scope acquire, Scope release>
INLINE void ticket_lock(unsigned *counts, unsigned *next, unsigned *serving) {
  if (threadIdx.x % 32 != 0) return;
#pragma unroll 1
  for (unsigned round = 0; round < ROUNDS; ++round) {
    const unsigned ticket = atomicAdd(next, 1u);
    while (load_relaxed(serving) != ticket) {
    }
    fence<acquire>();
    counts[0] += 1;
    counts[1] += counts[0];
    fence<release>();
    store_relaxed(serving, ticket + 1);
  }
}

#define TICKET_LOCK(VARIANT, ACQUIRE, RELEASE)                                                  \
  KERNEL(ticket_lock_##VARIANT)(unsigned *counts, unsigned *next, unsigned *serving) {          \
    ticket_lock<ACQUIRE, RELEASE>(counts, next, serving);                                       \
  }

TICKET_LOCK(full, DEVICE, DEVICE)
TICKET_LOCK(no_acquire, NONE, DEVICE)
TICKET_LOCK(no_release, DEVICE, NONE)
TICKET_LOCK(no_fence, NONE, NONE)
TICKET_LOCK(acquire_block, BLOCK, DEVICE)
TICKET_LOCK(release_block, DEVICE, BLOCK)
