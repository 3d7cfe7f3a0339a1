// Unbalanced tree search: counts the nodes of trees that a hash function grows.  Each block has
// a local stack for its own warps, locked at block scope, and a steal stack for the children
// that do not fit there, from which every block takes, locked at device scope.  Lane 0 locks
// and unlocks for its warp.

enum Switch : unsigned {
  BLOCK_SCOPE_PUSH_LOCK = 1,
  BLOCK_SCOPE_PUSH_ADD = 2,
  BLOCK_SCOPE_PUSH_UNLOCK = 4,
  BLOCK_SCOPE_POP_LOCK = 8,
  BLOCK_SCOPE_POP_CLEAR = 16,
  BLOCK_SCOPE_POP_UNLOCK = 32,
};

constexpr int LANES = 32;
constexpr unsigned EVERY_LANE = ~0u;

// A node is its level, from 1, above 28 bits that its children are hashed from; 0 is no node.
constexpr int STATE_BITS = 28;
constexpr int MOST_CHILDREN = 6;

// A ring of nodes that grows downward: `available` nodes from `top` on.
struct Stack {
  int available;
  int top;
  int locked;
  int nodes;   // nodes that its block has visited, and how many of them were leaves
  int leaves;
};

struct Ring {
  Stack *stack;
  unsigned *slots;
  int capacity;

  __device__ unsigned *slot(int index) const {
    return &slots[(index % capacity + capacity) % capacity];
  }
};

__device__ unsigned mix(unsigned x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

__device__ int count_children(unsigned node, int levels) {
  if ((node >> STATE_BITS) == levels) return 0;
  return mix(node) % (MOST_CHILDREN + 1);
}

__device__ unsigned make_child(unsigned node, int number) {
  const unsigned state = mix(node + 0x9E3779B9u * (number + 1)) & ((1u << STATE_BITS) - 1);
  return ((node >> STATE_BITS) + 1) << STATE_BITS | state;
}

__device__ int lane() { return threadIdx.x % LANES; }

__device__ void lock_in_block(int *locked) {
  if (lane() == 0) {
    while (atomicCAS_block(locked, 0, 1) != 0) {
    }
  }
  __threadfence_block();
  __syncwarp();
}

__device__ void unlock_in_block(int *locked) {
  __syncwarp();
  if (lane() == 0) {
    __threadfence_block();
    atomicExch_block(locked, 0);
  }
}

__device__ void lock_in_grid(int *locked, bool block_scope) {
  if (lane() == 0) {
    if (block_scope) {
      while (atomicCAS_block(locked, 0, 1) != 0) {
      }
    } else {
      while (atomicCAS(locked, 0, 1) != 0) {
      }
    }
  }
  __threadfence();
  __syncwarp();
}

__device__ void unlock_in_grid(int *locked, bool block_scope) {
  __syncwarp();
  if (lane() == 0) {
    __threadfence();
    if (block_scope) {
      atomicExch_block(locked, 0);
    } else {
      atomicExch(locked, 0);
    }
  }
}

__device__ unsigned pop_local(const Ring &ring) {
  Stack *stack = ring.stack;
  unsigned node = 0;
  lock_in_block(&stack->locked);
  const int available = atomicAdd(&stack->available, 0);
  const int top = *(volatile int *)&stack->top;
  if (available > lane()) node = atomicAdd_block(ring.slot(top + lane()), 0u);
  __syncwarp();
  if (lane() == 0) {
    *(volatile int *)&stack->top = (top + min(available, LANES)) % ring.capacity;
    if (atomicSub(&stack->available, LANES) < LANES) atomicExch(&stack->available, 0);
  }
  unlock_in_block(&stack->locked);
  return node;
}

__device__ unsigned pop_steal(const Ring &ring, unsigned switches) {
  Stack *stack = ring.stack;
  unsigned node = 0;
  lock_in_grid(&stack->locked, switches & BLOCK_SCOPE_POP_LOCK);
  const int available = atomicAdd(&stack->available, 0);
  const int top = *(volatile int *)&stack->top;
  if (available > lane()) node = atomicAdd(ring.slot(top + lane()), 0u);
  __syncwarp();
  if (lane() == 0) {
    *(volatile int *)&stack->top = (top + min(available, LANES)) % ring.capacity;
    if (atomicSub(&stack->available, LANES) < LANES) {
      if (switches & BLOCK_SCOPE_POP_CLEAR) {
        atomicExch_block(&stack->available, 0);
      } else {
        atomicExch(&stack->available, 0);
      }
    }
  }
  unlock_in_grid(&stack->locked, switches & BLOCK_SCOPE_POP_UNLOCK);
  return node;
}

// Counts the node and pushes as many of its children as fit; returns how many.
__device__ int push_local(const Ring &ring, unsigned node, int children) {
  Stack *stack = ring.stack;
  int fitting = 0;
  lock_in_block(&stack->locked);
  if (node != 0) {
    atomicAdd_block(&stack->nodes, 1);
    if (children == 0) atomicAdd_block(&stack->leaves, 1);
  }
  if (children > 0) {
    const int before = atomicAdd(&stack->available, children);
    fitting = max(0, min(children, ring.capacity - before));
    const int first = atomicAdd_block(&stack->top, -fitting) - fitting;
    for (int k = 0; k < fitting; k++) atomicExch_block(ring.slot(first + k), make_child(node, k));
  }
  __syncwarp();
  if (lane() == 0 && atomicAdd_block(&stack->top, 0) < 0) {
    atomicAdd_block(&stack->top, ring.capacity);
  }
  // What did not fit was counted as well.
  atomicExch(&stack->available, min(atomicAdd(&stack->available, 0), ring.capacity));
  unlock_in_block(&stack->locked);
  return fitting;
}

__device__ void push_steal(const Ring &ring, unsigned node, int first_child, int children,
                           unsigned switches) {
  Stack *stack = ring.stack;
  lock_in_grid(&stack->locked, switches & BLOCK_SCOPE_PUSH_LOCK);
  if (first_child < children) {
    const int count = children - first_child;
    if (switches & BLOCK_SCOPE_PUSH_ADD) {
      atomicAdd_block(&stack->available, count);
    } else {
      atomicAdd(&stack->available, count);
    }
    const int first = atomicSub(&stack->top, count) - count;
    for (int k = 0; k < count; k++) {
      atomicExch(ring.slot(first + k), make_child(node, first_child + k));
    }
  }
  __syncwarp();
  if (lane() == 0 && atomicAdd(&stack->top, 0) < 0) atomicAdd(&stack->top, ring.capacity);
  unlock_in_grid(&stack->locked, switches & BLOCK_SCOPE_PUSH_UNLOCK);
}

__device__ void visit(const Ring &local, const Ring &steal, unsigned node, int levels,
                      unsigned switches) {
  const int children = node == 0 ? 0 : count_children(node, levels);
  const int fitting = push_local(local, node, children);
  if (__any_sync(EVERY_LANE, fitting < children)) {
    push_steal(steal, node, fitting, children, switches);
  }
}

// One local and one steal stack for each block; all blocks must be resident at once.  The steal
// stacks must be large enough for whatever does not fit the local ones.
extern "C" __global__ void search(Stack *local_stacks, Stack *steal_stacks,
                                  unsigned *local_slots, unsigned *steal_slots,
                                  int local_capacity, int steal_capacity, int levels,
                                  unsigned switches) {
  const int blocks = gridDim.x;
  const int block = blockIdx.x;
  const Ring local = {&local_stacks[block], &local_slots[block * local_capacity],
                      local_capacity};
  const Ring own = {&steal_stacks[block], &steal_slots[block * steal_capacity], steal_capacity};
  bool found = true;
  for (int round = 0; __syncthreads_or(found); round++) {
    const int victim = (block + round) % blocks;
    const Ring steal = {&steal_stacks[victim], &steal_slots[victim * steal_capacity],
                        steal_capacity};
    // One copy of the code, so that a race has one program counter.
#pragma unroll 1
    for (int turn = 0; turn < 2; turn++) {
      const unsigned node = turn == 0 ? pop_local(local) : pop_steal(steal, switches);
      visit(local, own, node, levels, switches);
    }
    found = false;
    if (lane() == 0) {
#pragma unroll 1
      for (int i = 0; i < blocks; i++) {
        found |= atomicAdd(&local_stacks[i].available, 0) > 0;
        found |= atomicAdd(&steal_stacks[i].available, 0) > 0;
      }
    }
  }
}
