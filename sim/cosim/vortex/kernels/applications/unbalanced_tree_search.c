/* UTS of ScoR: counts the nodes of trees that a hash function grows.  Each block has a local stack
   for its own warps, locked at block scope, and a steal stack for the children that do not fit
   there, from which every block takes, locked at device scope.  Lane 0 locks and unlocks for its
   warp.  Switches: BLOCK_SCOPE_PUSH_LOCK, _PUSH_ADD, _PUSH_UNLOCK, _POP_LOCK, _POP_CLEAR and
   _POP_UNLOCK. */

#include "numbers.h"
#include "vortex.h"

#define LANES 4
#define MOST_BLOCKS 4
#define LEVELS 3
#define MOST_CHILDREN 6
/* A node is its level, from 1, above 28 bits that its children are hashed from; 0 is no node. */
#define STATE_BITS 28
#define STATE(n) ((n) & ((1u << STATE_BITS) - 1))
#define ROOT(n) (1u << STATE_BITS | NUMBER(n))
#define LOCAL_SLOTS 4
#define STEAL_SLOTS 128

/* A ring of nodes that grows downward: `available` nodes from `top` on. */
struct stack {
    unsigned available, top, locked;
};

struct stack local_stacks[MOST_BLOCKS] = {{2, 0, 0}, {2, 0, 0}, {2, 0, 0}, {2, 0, 0}};
struct stack steal_stacks[MOST_BLOCKS];
unsigned local_slots[MOST_BLOCKS][LOCAL_SLOTS] = {
    {ROOT(0), ROOT(1)}, {ROOT(2), ROOT(3)}, {ROOT(4), ROOT(5)}, {ROOT(6), ROOT(7)}};
unsigned steal_slots[MOST_BLOCKS][STEAL_SLOTS];
unsigned goes_on[MOST_BLOCKS];
/* Of each block: nodes that it has visited, and how many of them were leaves. */
unsigned result[2 * MOST_BLOCKS];

#ifdef BLOCK_SCOPE_PUSH_LOCK
#define PUSH_LOCK SCOPE_BLOCK
#else
#define PUSH_LOCK SCOPE_DEVICE
#endif
#ifdef BLOCK_SCOPE_PUSH_ADD
#define PUSH_ADD SCOPE_BLOCK
#else
#define PUSH_ADD SCOPE_DEVICE
#endif
#ifdef BLOCK_SCOPE_PUSH_UNLOCK
#define PUSH_UNLOCK SCOPE_BLOCK
#else
#define PUSH_UNLOCK SCOPE_DEVICE
#endif
#ifdef BLOCK_SCOPE_POP_LOCK
#define POP_LOCK SCOPE_BLOCK
#else
#define POP_LOCK SCOPE_DEVICE
#endif
#ifdef BLOCK_SCOPE_POP_CLEAR
#define POP_CLEAR SCOPE_BLOCK
#else
#define POP_CLEAR SCOPE_DEVICE
#endif
#ifdef BLOCK_SCOPE_POP_UNLOCK
#define POP_UNLOCK SCOPE_BLOCK
#else
#define POP_UNLOCK SCOPE_DEVICE
#endif

static unsigned mix(unsigned x) {
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

static unsigned count_children(unsigned node) {
    return node >> STATE_BITS == LEVELS ? 0 : mix(node) % (MOST_CHILDREN + 1);
}

static unsigned make_child(unsigned node, unsigned number) {
    unsigned state = STATE(mix(node + 0x9E3779B9u * (number + 1)));
    return ((node >> STATE_BITS) + 1) << STATE_BITS | state;
}

/* What one lane does to a stack whose lock its warp has; scopes and slots are those of the stack. */
#define POP(stack, slots, capacity, scope, clear, node) \
    do { \
        unsigned available = 0, top = 0; \
        each_lane { \
            available = atomic_load((stack)->available, SCOPE_DEVICE); \
            top = VOLATILE((stack)->top); \
            if (available > LANE()) node = atomic_load((slots)[(top + LANE()) % (capacity)], scope); \
        } \
        when (LANE() == 0) { \
            unsigned taken = available < LANES ? available : LANES; \
            VOLATILE((stack)->top) = (top + taken) % (capacity); \
            if (available <= LANES) \
                atomic_exchange((stack)->available, 0, clear); \
            else \
                atomic_add((stack)->available, -LANES, SCOPE_DEVICE); \
        } \
    } while (0)

static unsigned pop_local(void) {
    struct stack* stack = &local_stacks[BLOCK()];
    unsigned node = 0;
    when (LANE() == 0) lock(stack->locked, SCOPE_BLOCK);
    fence_block();
    POP(stack, local_slots[BLOCK()], LOCAL_SLOTS, SCOPE_BLOCK, SCOPE_DEVICE, node);
    fence_block();
    when (LANE() == 0) unlock(stack->locked, SCOPE_BLOCK);
    return node;
}

static unsigned pop_steal(unsigned victim) {
    struct stack* stack = &steal_stacks[victim];
    unsigned node = 0;
    when (LANE() == 0) lock(stack->locked, POP_LOCK);
    fence_device();
    POP(stack, steal_slots[victim], STEAL_SLOTS, SCOPE_DEVICE, POP_CLEAR, node);
    fence_device();
    when (LANE() == 0) unlock(stack->locked, POP_UNLOCK);
    return node;
}

/* Counts the node of each lane and pushes as many of its children as fit; returns how many. */
static unsigned push_local(unsigned node, unsigned children) {
    struct stack* stack = &local_stacks[BLOCK()];
    unsigned* slots = local_slots[BLOCK()];
    unsigned fitting = 0;
    when (LANE() == 0) lock(stack->locked, SCOPE_BLOCK);
    fence_block();
    each_lane {
        if (node) {
            atomic_add(result[2 * BLOCK()], 1, SCOPE_BLOCK);
            if (!children) atomic_add(result[2 * BLOCK() + 1], 1, SCOPE_BLOCK);
        }
        if (children) {
            unsigned before = atomic_load(stack->available, SCOPE_DEVICE);
            fitting = children < LOCAL_SLOTS - before ? children : LOCAL_SLOTS - before;
            unsigned first = atomic_load(stack->top, SCOPE_BLOCK) + LOCAL_SLOTS - fitting;
            for (unsigned k = 0; k < fitting; k++)
                atomic_exchange(slots[(first + k) % LOCAL_SLOTS], make_child(node, k), SCOPE_BLOCK);
            atomic_exchange(stack->top, first % LOCAL_SLOTS, SCOPE_BLOCK);
            atomic_add(stack->available, fitting, SCOPE_DEVICE);
        }
    }
    fence_block();
    when (LANE() == 0) unlock(stack->locked, SCOPE_BLOCK);
    return fitting;
}

static void push_steal(unsigned node, unsigned first_child, unsigned children) {
    struct stack* stack = &steal_stacks[BLOCK()];
    unsigned* slots = steal_slots[BLOCK()];
    when (LANE() == 0) lock(stack->locked, PUSH_LOCK);
    fence_device();
    each_lane if (first_child < children) {
        unsigned count = children - first_child;
        atomic_add(stack->available, count, PUSH_ADD);
        unsigned first = atomic_load(stack->top, SCOPE_DEVICE) + STEAL_SLOTS - count;
        for (unsigned k = 0; k < count; k++)
            atomic_exchange(slots[(first + k) % STEAL_SLOTS], make_child(node, first_child + k),
                            SCOPE_DEVICE);
        atomic_exchange(stack->top, first % STEAL_SLOTS, SCOPE_DEVICE);
    }
    fence_device();
    when (LANE() == 0) unlock(stack->locked, PUSH_UNLOCK);
}

static void visit(unsigned node) {
    unsigned children = 0;
    each_lane if (node) children = count_children(node);
    unsigned fitting = push_local(node, children);
    push_steal(node, fitting, children);
}

void kernel(unsigned argument) {
    (void)argument;
    unsigned block = BLOCK(), blocks = BLOCKS(), is_found = 1;
    for (unsigned round = 0; is_found; round++) {
        visit(pop_local());
        visit(pop_steal((block + round) % blocks));
        barrier();
        when (THREAD() == 0) {
            unsigned more = 0;
            for (unsigned i = 0; i < blocks; i++) {
                more |= atomic_load(local_stacks[i].available, SCOPE_DEVICE);
                more |= atomic_load(steal_stacks[i].available, SCOPE_DEVICE);
            }
            goes_on[block] = more;
        }
        barrier();
        is_found = goes_on[block];
        barrier();
    }
}
