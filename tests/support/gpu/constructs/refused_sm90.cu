// What the executor has not: each kernel is refused by a sentence that names it.

#include <cuda_bf16.h>

#include "common.cuh"

static __device__ unsigned shared_address(void *p) { return __cvta_generic_to_shared(p); }

KERNEL(copy_bulk)
{
    __shared__ alignas(16) int words[4];
    __shared__ long long barrier;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
                 ::"r"(shared_address(words)), "l"(data), "r"(shared_address(&barrier)) : "memory");
}
KERNEL(store_async)
{
    __shared__ int word;
    __shared__ long long barrier;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], 1, [%1];"
                 ::"r"(shared_address(&word)), "r"(shared_address(&barrier)) : "memory");
}
KERNEL(reduce_async)
{
    __shared__ int word;
    __shared__ long long barrier;
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], 1, [%1];"
                 ::"r"(shared_address(&word)), "r"(shared_address(&barrier)) : "memory");
}
KERNEL(proxy_fence) { asm volatile("fence.proxy.async;" ::: "memory"); }
KERNEL(wide_exchange)
{
    asm volatile("{ .reg .b128 a, b; mov.b128 a, {%1, %1}; atom.exch.b128 b, [%0], a; }"
                 ::"l"(data), "l"(1ll) : "memory");
}
KERNEL(bfloat_pair)
{
    __nv_bfloat162 *pairs = (__nv_bfloat162 *)data;
    pairs[0] = __hadd2(pairs[1], pairs[2]);
}
KERNEL(vector_reduction)
{
    asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(data), "f"(1.0f) : "memory");
}
KERNEL(elected_lane)
{
    int is_elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_elected));
    data[threadIdx.x] = is_elected;
}
KERNEL(memory_mapped)
{
    int value;
    asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(sync) : "memory");
    data[0] = value;
}
KERNEL(dependent_launch) { asm volatile("griddepcontrol.wait;" ::: "memory"); }
