// MCS lock: waiting warps form a list; each waits at a word of its own.
//
// Ref: Mellor-Crummey and Scott (TOCS 1991), Algorithm 5.

#include "common.cuh"

// Critical sections of a warp, and looks at its own node before the second: the lock is then free
// for some and taken for others.
enum { ROUNDS = 2, PAUSE = 16 };

// Nodes have numbers from 1; 0 is none.
struct Lock {
  unsigned *tail, *next, *is_waiting;
};

template <Scope enter, Scope link, Scope acquire> INLINE void take(Lock lock, unsigned self) {
  store_relaxed(&lock.next[self], 0);
  store_relaxed(&lock.is_waiting[self], 1);
  fence<enter>();
  const unsigned before = atomicExch(lock.tail, self);
  fence<link>();
  if (before == 0) return;
  store_relaxed(&lock.next[before], self);
  while (load_relaxed(&lock.is_waiting[self])) {
  }
  fence<acquire>();
}

template <Scope release, Scope hand_over> INLINE void leave(Lock lock, unsigned self) {
  unsigned next;
  fence<release>();
  while ((next = load_relaxed(&lock.next[self])) == 0)
    if (atomicCAS(lock.tail, self, 0u) == self) return;
  fence<hand_over>();
  store_relaxed(&lock.is_waiting[next], 0);
}

template <Scope enter, Scope link, Scope acquire, Scope release, Scope hand_over>
INLINE void mcs_lock(unsigned *counts, Lock lock) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned self = 1 + (blockIdx.x * blockDim.x + threadIdx.x) / 32;
#pragma unroll 1
  for (unsigned round = 0; round < ROUNDS; ++round) {
    for (unsigned look = 0; look < round * PAUSE * self; ++look) load_relaxed(&lock.next[self]);
    take<enter, link, acquire>(lock, self);
    counts[0] += 1;
    counts[1] += counts[0];
    leave<release, hand_over>(lock, self);
  }
}

#define MCS_LOCK(VARIANT, ENTER, LINK, ACQUIRE, RELEASE, HAND_OVER)                              \
  KERNEL(mcs_lock_##VARIANT)(unsigned *counts, unsigned *tail, unsigned *next,                   \
                             unsigned *is_waiting) {                                             \
    mcs_lock<ENTER, LINK, ACQUIRE, RELEASE, HAND_OVER>(counts, Lock{tail, next, is_waiting});    \
  }

MCS_LOCK(full, DEVICE, DEVICE, DEVICE, DEVICE, DEVICE)
MCS_LOCK(no_enter, NONE, DEVICE, DEVICE, DEVICE, DEVICE)
MCS_LOCK(no_link, DEVICE, NONE, DEVICE, DEVICE, DEVICE)
MCS_LOCK(no_acquire, DEVICE, DEVICE, NONE, DEVICE, DEVICE)
MCS_LOCK(no_release, DEVICE, DEVICE, DEVICE, NONE, DEVICE)
MCS_LOCK(no_hand_over, DEVICE, DEVICE, DEVICE, DEVICE, NONE)
MCS_LOCK(acquire_block, DEVICE, DEVICE, BLOCK, DEVICE, DEVICE)
