// Double-checked initialisation: the first warp makes a table under a lock; who finds it made
// takes no lock.  A table that is made twice is wrong.

#include "common.cuh"

// Words of the table, and looks at the flag before a warp takes the lock.
enum { WORDS = 4, LOOKS = 4 };

template <Scope acquire, Scope release>
INLINE void double_checked(unsigned *sums, unsigned *table, unsigned *is_made, unsigned *mutex) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  bool is_seen = false;
  // The first warp has no patience, so that others may find the table made.
#pragma unroll 1
  for (unsigned look = 0; look < LOOKS * (warp > 0) && !is_seen; ++look)
    is_seen = load_relaxed(is_made);
  fence<acquire>();
  if (!is_seen) {
    lock<DEVICE>(mutex);
    if (!load_relaxed(is_made)) {
      for (unsigned word = 0; word < WORDS; ++word) table[word] += scattered(word);
      fence<release>();
      store_relaxed(is_made, 1);
    }
    unlock<DEVICE>(mutex);
  }
  unsigned sum = 0;
  for (unsigned word = 0; word < WORDS; ++word) sum += table[word];
  sums[warp] = sum;
}

#define DOUBLE_CHECKED(VARIANT, ACQUIRE, RELEASE)                                                \
  KERNEL(double_checked_##VARIANT)(unsigned *sums, unsigned *table, unsigned *is_made,           \
                                   unsigned *mutex) {                                            \
    double_checked<ACQUIRE, RELEASE>(sums, table, is_made, mutex);                               \
  }

DOUBLE_CHECKED(full, DEVICE, DEVICE)
DOUBLE_CHECKED(no_acquire, NONE, DEVICE)
DOUBLE_CHECKED(no_release, DEVICE, NONE)
DOUBLE_CHECKED(no_fence, NONE, NONE)
DOUBLE_CHECKED(acquire_block, BLOCK, DEVICE)
DOUBLE_CHECKED(release_block, DEVICE, BLOCK)
