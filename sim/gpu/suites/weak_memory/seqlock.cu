// Sequence lock: a block changes a record under an odd sequence number; the others read it again
// until the number was even and has not changed.  All accesses are strong, so none of them races.

#include "common.cuh"

// Words of the record, changes of it, and readings of each reader.
enum { WORDS = 3, CHANGES = 3, READINGS = 2 };

template <Scope odd, Scope even> INLINE void change(unsigned *record, unsigned *sequence) {
#pragma unroll 1
  for (unsigned number = 1; number <= CHANGES; ++number) {
    store_relaxed(sequence, 2 * number - 1);
    fence<odd>();
    for (unsigned word = 0; word < WORDS; ++word) store_relaxed(&record[word], number);
    fence<even>();
    store_relaxed(sequence, 2 * number);
  }
}

// Whether a reading has one change in all words.
template <Scope first, Scope second> INLINE bool read(unsigned *record, unsigned *sequence) {
  while (true) {
    const unsigned before = load_relaxed(sequence);
    fence<first>();
    bool is_whole = true;
    for (unsigned word = 0; word < WORDS; ++word)
      is_whole &= load_relaxed(&record[word]) == before / 2;
    fence<second>();
    if (before % 2 == 0 && load_relaxed(sequence) == before) return is_whole;
  }
}

template <Scope odd, Scope even, Scope first, Scope second>
INLINE void seqlock(unsigned *whole, unsigned *record, unsigned *sequence) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    change<odd, even>(record, sequence);
  } else {
    unsigned count = 0;
#pragma unroll 1
    for (unsigned reading = 0; reading < READINGS; ++reading)
      count += read<first, second>(record, sequence);
    whole[blockIdx.x - 1] = count;
  }
}

#define SEQLOCK(VARIANT, ODD, EVEN, FIRST, SECOND)                                               \
  KERNEL(seqlock_##VARIANT)(unsigned *whole, unsigned *record, unsigned *sequence) {             \
    seqlock<ODD, EVEN, FIRST, SECOND>(whole, record, sequence);                                  \
  }

SEQLOCK(full, DEVICE, DEVICE, DEVICE, DEVICE)
SEQLOCK(no_odd, NONE, DEVICE, DEVICE, DEVICE)
SEQLOCK(no_even, DEVICE, NONE, DEVICE, DEVICE)
SEQLOCK(no_first, DEVICE, DEVICE, NONE, DEVICE)
SEQLOCK(no_second, DEVICE, DEVICE, DEVICE, NONE)
SEQLOCK(even_block, DEVICE, BLOCK, DEVICE, DEVICE)
