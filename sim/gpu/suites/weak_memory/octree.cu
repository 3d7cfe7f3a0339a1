// Octree: blocks divide cells of particles into octants; each has a queue of cells, and steals
// from the others when its own is empty.
//
// Ref: Bugaroo Table I, `ct_octree`; Figure 5.

#include "common.cuh"

// Levels below the root, and particles that a cell need not be divided for.
enum { LEVELS = 2, LEAF = 4, OCTANTS = 8 };
// Cells that a queue has room for, taken or not.
enum { CAPACITY = 128 };
enum { NO_TASK = ~0u };

// A cell is its level and its range of particles.  A word of zeros is an empty one.
INLINE unsigned cell(unsigned level, unsigned first, unsigned count) {
  return level << 24 | first << 12 | count;
}

// Octants of a particle from the root down, three bits each.
INLINE unsigned path(unsigned particle) { return scattered(particle) >> (32 - 3 * LEVELS); }

struct Queues {
  unsigned *cells, *heads;
  volatile unsigned *tails;
  // Cells done, less cells put in beyond the root.
  unsigned *done;
};

template <Scope release> INLINE void push(Queues queues, unsigned task) {
  const unsigned tail = queues.tails[blockIdx.x];
  queues.cells[blockIdx.x * CAPACITY + tail] = task;
  fence<release>();
  queues.tails[blockIdx.x] = tail + 1;
}

// A cell of the own queue, or of another; no task once all cells are done.
template <Scope acquire> INLINE unsigned take(Queues queues) {
  for (unsigned queue = blockIdx.x;; queue = (queue + 1) % gridDim.x) {
    const unsigned tail = queues.tails[queue];
    fence<acquire>();
    const unsigned head = atomicAdd(&queues.heads[queue], 0u);
    if (head < tail && atomicCAS(&queues.heads[queue], head, head + 1) == head)
      return queues.cells[queue * CAPACITY + head];
    if (atomicAdd(queues.done, 0u) == 1u) return NO_TASK;
  }
}

template <Scope release, Scope acquire>
INLINE void octree(unsigned *order, unsigned *leaves, Queues queues, unsigned particles) {
  __shared__ unsigned task, octants[1024], sizes[OCTANTS];
  const unsigned thread = threadIdx.x;
  if (thread == 0 && blockIdx.x == 0) push<release>(queues, cell(0, 0, particles));
  while (true) {
    if (thread == 0) task = take<acquire>(queues);
    __syncthreads();
    const unsigned own = task;
    if (own == NO_TASK) return;
    const unsigned level = own >> 24, first = own >> 12 & 0xfff, count = own & 0xfff;
    // The particles of a cell of odd level lie in the second half.
    const unsigned *from = order + (level % 2) * particles + first;
    unsigned *to = order + (1 - level % 2) * particles + first;
    const unsigned particle = thread < count ? from[thread] : 0;
    const bool is_leaf = count <= LEAF || level == LEVELS;
    if (thread < OCTANTS) sizes[thread] = 0;
    __syncthreads();
    if (thread < count && is_leaf)
      leaves[particle] = (level + 1) << 16 | path(particle) >> 3 * (LEVELS - level);
    if (thread < count && !is_leaf) {
      octants[thread] = path(particle) >> 3 * (LEVELS - 1 - level) & 7;
      atomicAdd(&sizes[octants[thread]], 1u);
    }
    __syncthreads();
    if (thread < count && !is_leaf) {
      unsigned place = 0;
#pragma unroll 1
      for (unsigned octant = 0; octant < octants[thread]; ++octant) place += sizes[octant];
#pragma unroll 1
      for (unsigned other = 0; other < thread; ++other)
        place += octants[other] == octants[thread];
      to[place] = particle;
    }
    __syncthreads();
    if (thread == 0) {
      unsigned children = 0, start = first;
#pragma unroll 1
      for (unsigned octant = 0; octant < OCTANTS && !is_leaf; ++octant) {
        if (sizes[octant] > 0) {
          push<release>(queues, cell(level + 1, start, sizes[octant]));
          ++children;
        }
        start += sizes[octant];
      }
      atomicAdd(queues.done, 1 - children);
    }
  }
}

#define OCTREE(VARIANT, RELEASE, ACQUIRE)                                              \
  KERNEL(octree_##VARIANT)(unsigned *order, unsigned *leaves, unsigned *cells,         \
                           unsigned *heads, unsigned *tails, unsigned *done,           \
                           unsigned particles) {                                       \
    octree<RELEASE, ACQUIRE>(order, leaves, Queues{cells, heads, tails, done}, particles); \
  }

OCTREE(full, DEVICE, DEVICE)
OCTREE(no_release, NONE, DEVICE)
OCTREE(no_acquire, DEVICE, NONE)
OCTREE(no_fence, NONE, NONE)
OCTREE(release_block, BLOCK, DEVICE)
OCTREE(acquire_block, DEVICE, BLOCK)
