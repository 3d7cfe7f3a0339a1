// What the kernels of the suite have in common.
//
// Every kernel has the arguments (data, sync): 1,024 and 64 words, all zero at launch.

#define KERNEL(NAME) extern "C" __global__ void NAME(int *data, int *sync)

static __device__ __forceinline__ int peek(const int *p) { return *(const volatile int *)p; }
static __device__ __forceinline__ void poke(int *p, int v) { *(volatile int *)p = v; }

enum Scope { NONE, BLOCK, DEVICE };

template <Scope scope> static __device__ __forceinline__ void fence()
{
    if (scope == BLOCK)
        __threadfence_block();
    if (scope == DEVICE)
        __threadfence();
}
