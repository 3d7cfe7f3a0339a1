// Synchronisation by the C++ library of CUDA.

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#include "common.cuh"

using Device = cuda::atomic_ref<int, cuda::thread_scope_device>;
using Block = cuda::atomic_ref<int, cuda::thread_scope_block>;
using System = cuda::atomic_ref<int, cuda::thread_scope_system>;
using cuda::std::memory_order_acq_rel, cuda::std::memory_order_acquire,
    cuda::std::memory_order_relaxed, cuda::std::memory_order_release,
    cuda::std::memory_order_seq_cst;

template <class Flag> __device__ void set(int *flag, cuda::std::memory_order order)
{
    Flag(*flag).store(1, order);
}
template <class Flag> __device__ void await(int *flag, cuda::std::memory_order order)
{
    while (Flag(*flag).load(order) == 0) {
    }
}

HANDOVER(ref_release, set<Device>(sync, memory_order_release), await<Device>(sync, memory_order_acquire))
HANDOVER(ref_relaxed, set<Device>(sync, memory_order_relaxed), await<Device>(sync, memory_order_acquire))

HANDOVER(ref_device, set<Device>(sync, memory_order_release), await<Device>(sync, memory_order_acquire))
HANDOVER(ref_block, set<Block>(sync, memory_order_release), await<Device>(sync, memory_order_acquire))

HANDOVER(ref_system, set<System>(sync, memory_order_release), await<System>(sync, memory_order_acquire))
HANDOVER(ref_system_relaxed, set<System>(sync, memory_order_release), await<System>(sync, memory_order_relaxed))

HANDOVER(ref_seq_cst, set<Device>(sync, memory_order_seq_cst), await<Device>(sync, memory_order_seq_cst))
HANDOVER(ref_seq_cst_relaxed, set<Device>(sync, memory_order_seq_cst), await<Device>(sync, memory_order_relaxed))

HANDOVER(thread_fence, cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
         set<Device>(sync, memory_order_relaxed), await<Device>(sync, memory_order_relaxed);
         cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device))
HANDOVER(thread_fence_missing, set<Device>(sync, memory_order_relaxed);
         , await<Device>(sync, memory_order_relaxed);
         cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device))

HANDOVER(thread_fence_device, cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
         set<Device>(sync, memory_order_relaxed), await<Device>(sync, memory_order_acquire))
HANDOVER(thread_fence_block, cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_block);
         set<Device>(sync, memory_order_relaxed), await<Device>(sync, memory_order_acquire))

HANDOVER(ref_wait_acquire, Device(*sync).store(1, memory_order_release); Device(*sync).notify_all(),
         Device(*sync).wait(0, memory_order_acquire))
HANDOVER(ref_wait_relaxed, Device(*sync).store(1, memory_order_release); Device(*sync).notify_all(),
         Device(*sync).wait(0, memory_order_relaxed))

#define FLAG (*(cuda::std::atomic_flag *)sync)
HANDOVER(atomic_flag_release, FLAG.test_and_set(memory_order_release), while (!FLAG.test(memory_order_acquire)))
HANDOVER(atomic_flag_relaxed, FLAG.test_and_set(memory_order_relaxed), while (!FLAG.test(memory_order_acquire)))

// A semaphore of zero permits is zero memory.
using Binary = cuda::binary_semaphore<cuda::thread_scope_device>;
using Counting = cuda::counting_semaphore<cuda::thread_scope_device>;
HANDOVER(binary_semaphore_acquired, ((Binary *)sync)->release(), ((Binary *)sync)->acquire())
HANDOVER(binary_semaphore_tried, ((Binary *)sync)->release(), ((Binary *)sync)->try_acquire())

HANDOVER(semaphore_acquired, ((Counting *)sync)->release(2), ((Counting *)sync)->acquire())
HANDOVER(semaphore_tried, ((Counting *)sync)->release(2), ((Counting *)sync)->try_acquire())

// The last of the blocks adds up what all have written.
template <cuda::std::memory_order order> __device__ void last_block(int *data, int *sync)
{
    data[1 + blockIdx.x] = 21;
    if (Device(*sync).fetch_add(1, order) == gridDim.x - 1)
        data[0] = data[1] + data[2];
}
KERNEL(ref_last_block_acq_rel) { last_block<memory_order_acq_rel>(data, sync); }
KERNEL(ref_last_block_relaxed) { last_block<memory_order_relaxed>(data, sync); }

template <cuda::std::memory_order order> __device__ void locked(int *data, int *sync)
{
    int free = 0;
    while (!Device(*sync).compare_exchange_weak(free, 1, memory_order_acquire, memory_order_relaxed))
        free = 0;
    data[0] += 21;
    Device(*sync).store(0, order);
}
KERNEL(ref_lock_release) { locked<memory_order_release>(data, sync); }
KERNEL(ref_lock_relaxed) { locked<memory_order_relaxed>(data, sync); }

// Warps of a block. The first threads make the objects, and a barrier lets the others see them.

#define SHARED_OBJECT(TYPE, COUNT)                             \
    __shared__ alignas(TYPE) unsigned char bytes[sizeof(TYPE)]; \
    TYPE &object = *(TYPE *)bytes;                             \
    if (threadIdx.x == 0)                                      \
        new (&object) TYPE(COUNT);                             \
    __syncthreads()

using Latch = cuda::latch<cuda::thread_scope_block>;
KERNEL(latch_waited)
{
    SHARED_OBJECT(Latch, 64);
    data[threadIdx.x] = threadIdx.x;
    object.arrive_and_wait();
    data[128 + threadIdx.x] = data[threadIdx.x ^ 32];
}
KERNEL(latch_not_waited)
{
    SHARED_OBJECT(Latch, 64);
    data[threadIdx.x] = threadIdx.x;
    object.count_down();
    data[128 + threadIdx.x] = data[threadIdx.x ^ 32];
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;
KERNEL(barrier_waited)
{
    SHARED_OBJECT(Barrier, 64);
    data[threadIdx.x] = threadIdx.x;
    object.arrive_and_wait();
    data[128 + threadIdx.x] = data[threadIdx.x ^ 32];
}
KERNEL(barrier_not_waited)
{
    SHARED_OBJECT(Barrier, 64);
    data[threadIdx.x] = threadIdx.x;
    (void)object.arrive();
    data[128 + threadIdx.x] = data[threadIdx.x ^ 32];
}

KERNEL(barrier_split)
{
    SHARED_OBJECT(Barrier, 64);
    data[threadIdx.x] = threadIdx.x;
    auto token = object.arrive();
    object.wait(cuda::std::move(token));
    data[128 + threadIdx.x] = data[threadIdx.x ^ 32];
}
KERNEL(barrier_split_too_early)
{
    SHARED_OBJECT(Barrier, 64);
    auto token = object.arrive();
    data[threadIdx.x] = threadIdx.x;
    object.wait(cuda::std::move(token));
    data[128 + threadIdx.x] = data[threadIdx.x ^ 32];
}
