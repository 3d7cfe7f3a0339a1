// What the kernels of the suite have in common.
//
// Every kernel has the arguments (data, sync): 1,024 and 64 words, all zero at launch.

#define KERNEL(NAME) extern "C" __global__ void NAME(int *data, int *sync)

// Instructions as PTX spells them; INSTRUCTION is for example "release.gpu.u32".
#define STORE(INSTRUCTION, P, V) \
    asm volatile("st." INSTRUCTION " [%0], %1;" ::"l"(P), "r"(V) : "memory")
#define LOAD(INSTRUCTION, R, P) \
    asm volatile("ld." INSTRUCTION " %0, [%1];" : "=r"(R) : "l"(P) : "memory")
#define ATOM(INSTRUCTION, R, P, V) \
    asm volatile("atom." INSTRUCTION " %0, [%1], %2;" : "=r"(R) : "l"(P), "r"(V) : "memory")
#define CAS(INSTRUCTION, R, P, OLD, NEW)                          \
    asm volatile("atom." INSTRUCTION " %0, [%1], %2, %3;"         \
                 : "=r"(R) : "l"(P), "r"(OLD), "r"(NEW) : "memory")
#define RED(INSTRUCTION, P, V) \
    asm volatile("red." INSTRUCTION " [%0], %1;" ::"l"(P), "r"(V) : "memory")
#define FENCE(INSTRUCTION) asm volatile("fence." INSTRUCTION ";" ::: "memory")

// Wait until a load by INSTRUCTION gives VALUE.
#define AWAIT_VALUE(INSTRUCTION, P, VALUE)  \
    for (int seen = ~(VALUE); seen != (VALUE);) \
    LOAD(INSTRUCTION, seen, P)
#define AWAIT(INSTRUCTION) AWAIT_VALUE(INSTRUCTION, sync, 1)

// Block 0 writes a word and raises a flag, the others wait for it and copy the word.
#define HANDOVER(NAME, SIGNAL, WAIT)        \
    KERNEL(NAME)                            \
    {                                       \
        if (blockIdx.x == 0) {              \
            data[0] = 42;                   \
            SIGNAL;                         \
        } else {                            \
            WAIT;                           \
            data[blockIdx.x] = data[0];     \
        }                                   \
    }

// The same with the first threads of two warps.
#define HANDOVER_IN_BLOCK(NAME, SIGNAL, WAIT) \
    KERNEL(NAME)                              \
    {                                         \
        if (threadIdx.x == 0) {               \
            data[0] = 42;                     \
            SIGNAL;                           \
        } else if (threadIdx.x == 32) {       \
            WAIT;                             \
            data[1] = data[0];                \
        }                                     \
    }
