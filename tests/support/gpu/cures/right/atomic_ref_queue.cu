// Queue between two blocks with the C++ library's atomics.
#include <cstdio>
#include <cuda/atomic>
#include <cuda_runtime.h>

using Counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__global__ void stream_through(int *slots, unsigned *tail, int n, int *sum) {
  Counter written(*tail);
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      slots[i] = i;
      written.fetch_add(1, cuda::std::memory_order_release);
    }
  } else {
    int total = 0;
    for (int i = 0; i < n; ++i) {
      while (written.load(cuda::std::memory_order_acquire) <= i) {
      }
      total += slots[i];
    }
    *sum = total;
  }
}

int main() {
  int *slots, *sum;
  unsigned *tail;
  cudaMallocManaged(&slots, 16 * sizeof(int));
  cudaMallocManaged(&tail, sizeof(unsigned));
  cudaMallocManaged(&sum, sizeof(int));
  *tail = 0;
  stream_through<<<2, 1>>>(slots, tail, 16, sum);
  cudaDeviceSynchronize();
  return printf("%d\n", *sum), *sum != 120;
}
