/* What a kernel for Vortex needs besides C: indices, barriers, fences, ways to memory, atomics.

   A kernel is a function `void kernel(unsigned argument)`, which every thread of the grid runs.
   Global variables are memory of the whole grid, variables on the stack are the thread's own.

   Lanes of a warp run in lockstep, and the compiler knows nothing of it: a condition on which lanes
   of a warp differ must be written `when (condition) { ... }`, without return, break or goto out of it. */

#ifndef VORTEX_H
#define VORTEX_H

#define VX_CSR(number) ({ unsigned vx_value; \
    __asm__ volatile("csrr %0, " #number : "=r"(vx_value)); vx_value; })

#define THREAD() VX_CSR(0xCD3)   /* index of the thread in its block */
#define BLOCK() VX_CSR(0xCD6)    /* index of the block */
#define THREADS() VX_CSR(0xCD9)  /* threads of a block */
#define BLOCKS() VX_CSR(0xCDC)   /* blocks of the grid */
#define LANE() VX_CSR(0xCC0)     /* lane of the thread in its warp */
#define WARP() VX_CSR(0xCD1)     /* warp in its block */
#define WARPS() VX_CSR(0xCD2)    /* warps of the block */

/* A block runs what follows for the lanes in which a condition holds. */
static inline __attribute__((always_inline)) unsigned vx_split(unsigned condition) {
    unsigned token;
    __asm__ volatile(".insn r 0x0b, 2, 0, %0, %1, x0" : "=r"(token) : "r"(condition) : "memory");
    return token;
}
static inline __attribute__((always_inline)) void vx_join(unsigned token) {
    __asm__ volatile(".insn r 0x0b, 3, 0, x0, %0, x0" : : "r"(token) : "memory");
}
/* Hides from the compiler that the branch repeats the condition of the split. */
static inline __attribute__((always_inline)) unsigned vx_opaque(unsigned value) {
    __asm__ volatile("" : "+r"(value));
    return value;
}
#define when(condition) \
    for (unsigned vx_c = !!(condition), vx_t = vx_split(vx_c), vx_once = 1; vx_once; \
         vx_once = 0, vx_join(vx_t)) \
        if (vx_opaque(vx_c))
/* One lane after the other. */
#define each_lane for (unsigned vx_lane = 0; vx_lane < 4; vx_lane++) when (LANE() == vx_lane)

/* All warps of the block wait for each other. */
static inline __attribute__((always_inline)) void barrier(void) {
    __asm__ volatile(".insn r 0x0b, 4, 0, x0, %0, %1"
                     : : "r"(VX_CSR(0xCD0)), "r"(WARPS()) : "memory");
}
/* What the thread has done is seen by its block before what it does next. */
static inline __attribute__((always_inline)) void fence_block(void) {
    __asm__ volatile(".insn r 0x0b, 7, 0, x0, x0, x0" : : : "memory");
}
/* The same, by all threads: the core's cache is written back and emptied. */
static inline __attribute__((always_inline)) void fence_device(void) {
    __asm__ volatile("fence" : : : "memory");
}

/* The same variable by another way: past the cache, or as an atomic of some scope. */
#define VX_WAY(variable, offset) \
    (*(volatile __typeof__(variable)*)((unsigned)&(variable) + (offset)))
#define VOLATILE(variable) VX_WAY(variable, 0x10000000u)
#define SCOPE_DEVICE 0x20000000u
#define SCOPE_BLOCK 0xA0000000u
/* Atomics, each by one lane of its warp: use `when` or `each_lane`. */
#define atomic_load(variable, scope) (VX_WAY(variable, scope))
#define atomic_exchange(variable, value, scope) ((void)(VX_WAY(variable, scope) = (value)))
#define atomic_increment(variable, scope) (VX_WAY(variable, (scope) + 0x10000000u))
#define atomic_add(variable, value, scope) ((void)(VX_WAY(variable, (scope) + 0x10000000u) = (value)))
#define try_lock(variable, scope) (VX_WAY(variable, (scope) + 0x20000000u) == 0)
#define unlock(variable, scope) ((void)(VX_WAY(variable, (scope) + 0x20000000u) = 0))
/* Waits for a lock; by one lane of its warp. */
#define lock(variable, scope) do { } while (!try_lock(variable, scope))

/* A character for the console. */
static inline __attribute__((always_inline)) void console(char character) {
    *(volatile unsigned char*)0x40 = (unsigned char)character;
}

#endif
