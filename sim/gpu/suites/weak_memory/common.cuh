// What the programs of the suite have in common.

#define KERNEL(NAME) extern "C" __global__ void NAME
#define INLINE static __device__ __forceinline__

// A fence at a place of a program: none, or one of a scope.
enum Scope { NONE, BLOCK, DEVICE };

template <Scope scope> INLINE void fence() {
  if (scope == BLOCK) __threadfence_block();
  if (scope == DEVICE) __threadfence();
}

INLINE unsigned load_relaxed(unsigned *place) {
  return __nv_atomic_load_n(place, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

INLINE void store_relaxed(unsigned *place, unsigned value) {
  __nv_atomic_store_n(place, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Input that no two indices have alike in their upper bits.
INLINE unsigned scattered(unsigned index) { return (index + 1) * 2654435761u; }

// Sum over the threads of a block, a power of two of them at most 1,024.
INLINE unsigned sum_block(unsigned own) {
  __shared__ unsigned sums[1024];
  const unsigned thread = threadIdx.x;
  sums[thread] = own;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (thread < half) sums[thread] += sums[thread + half];
    __syncthreads();
  }
  return sums[0];
}

template <Scope acquire> INLINE void lock(unsigned *mutex) {
  while (atomicCAS(mutex, 0u, 1u) != 0u) {
  }
  fence<acquire>();
}

template <Scope release> INLINE void unlock(unsigned *mutex) {
  fence<release>();
  atomicExch(mutex, 0u);
}
