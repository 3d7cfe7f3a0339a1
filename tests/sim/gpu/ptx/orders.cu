// Atomics of the C++ library, which spell order and scope behind the operation: never run.

#include <cuda/atomic>

extern "C" __global__ void orders(int *p, unsigned *u) {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(p[0]);
    cuda::atomic_ref<int, cuda::thread_scope_block> b(p[1]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> s(u[0]);
    a.store(1, cuda::memory_order_release);
    b.store(a.load(cuda::memory_order_acquire), cuda::memory_order_relaxed);
    a.store(2);
    a.fetch_add(3, cuda::memory_order_acq_rel);
    s.fetch_add(3);
    int expected = 4;
    a.compare_exchange_strong(expected, 8, cuda::memory_order_acquire);
    a.exchange(3, cuda::memory_order_release);
    s.fetch_max(3);
    s.fetch_xor(4, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_block);
    p[4] = b.load() + expected;
}
