// Dekker's mutual exclusion of two blocks, by loads and stores alone.
//
// Ref: Dijkstra (Cooperating Sequential Processes, 1965) Section 2.1.

#include "common.cuh"

enum { ROUNDS = 2 };

struct Pair {
  unsigned *wants, *turn;
};

template <Scope store_load> INLINE void want(Pair pair, unsigned self) {
  store_relaxed(&pair.wants[self], 1);
  fence<store_load>();
}

template <Scope store_load, Scope acquire> INLINE void enter(Pair pair, unsigned self) {
  want<store_load>(pair, self);
  while (load_relaxed(&pair.wants[1 - self])) {
    if (load_relaxed(pair.turn) != self) {
      store_relaxed(&pair.wants[self], 0);
      while (load_relaxed(pair.turn) != self) {
      }
      want<store_load>(pair, self);
    }
  }
  fence<acquire>();
}

// The fence is behind the store of the turn: stores of the turn must keep the order of the sections.
template <Scope release> INLINE void leave(Pair pair, unsigned self) {
  store_relaxed(pair.turn, 1 - self);
  fence<release>();
  store_relaxed(&pair.wants[self], 0);
}

// Blocks in pairs, with two words of `counts` each.
template <Scope store_load, Scope acquire, Scope release>
INLINE void dekker(unsigned *counts, Pair pairs) {
  if (threadIdx.x != 0) return;
  const unsigned number = blockIdx.x / 2, self = blockIdx.x % 2;
  const Pair pair{pairs.wants + 2 * number, pairs.turn + number};
  unsigned *own = counts + 2 * number;
#pragma unroll 1
  for (unsigned round = 0; round < ROUNDS; ++round) {
    enter<store_load, acquire>(pair, self);
    own[0] += 1;
    own[1] += own[0];
    leave<release>(pair, self);
  }
}

#define DEKKER(VARIANT, STORE_LOAD, ACQUIRE, RELEASE)                                            \
  KERNEL(dekker_##VARIANT)(unsigned *counts, unsigned *wants, unsigned *turn) {                  \
    dekker<STORE_LOAD, ACQUIRE, RELEASE>(counts, Pair{wants, turn});                             \
  }

DEKKER(full, DEVICE, DEVICE, DEVICE)
DEKKER(no_store_load, NONE, DEVICE, DEVICE)
DEKKER(no_acquire, DEVICE, NONE, DEVICE)
DEKKER(no_release, DEVICE, DEVICE, NONE)
DEKKER(store_load_block, BLOCK, DEVICE, DEVICE)
