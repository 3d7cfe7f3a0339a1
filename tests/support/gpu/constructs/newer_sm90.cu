// What newer architectures add.

#include "common.cuh"

HANDOVER(fence_release_and_acquire, FENCE("release.gpu"); STORE("relaxed.gpu.u32", sync, 1),
         AWAIT("relaxed.gpu.u32"); FENCE("acquire.gpu"))
HANDOVER(fence_acquire_and_acquire, FENCE("acquire.gpu"); STORE("relaxed.gpu.u32", sync, 1),
         AWAIT("relaxed.gpu.u32"); FENCE("acquire.gpu"))

HANDOVER(release_gpu, STORE("release.gpu.u32", sync, 1), AWAIT("acquire.gpu.u32"))
HANDOVER(release_cluster, STORE("release.cluster.u32", sync, 1), AWAIT("acquire.gpu.u32"))

KERNEL(reduce_sync)
{
    int sum = __reduce_add_sync(~0u, threadIdx.x);
    unsigned most = __reduce_max_sync(~0u, threadIdx.x), all = __reduce_or_sync(~0u, threadIdx.x);
    if (threadIdx.x == 0)
        data[0] = sum + most + all;
}
KERNEL(reduce_by_stores)
{
    data[0] += threadIdx.x;
}
