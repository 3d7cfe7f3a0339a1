// Handover by the C++ library's atomics, whose scope is that of a block.
#include <cstdio>
#include <cuda/atomic>
#include <cuda_runtime.h>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_block>;

__global__ void handover(int *data, int *word, int *out) {
  Flag flag(*word);
  if (blockIdx.x == 0) {
    *data = 7;
    flag.store(1, cuda::std::memory_order_release);
  } else {
    while (flag.load(cuda::std::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

int main() {
  int *words;
  cudaMallocManaged(&words, 3 * sizeof(int));
  for (int i = 0; i < 3; ++i) words[i] = 0;
  handover<<<2, 1>>>(words, words + 1, words + 2);
  cudaDeviceSynchronize();
  return printf("%d\n", words[2]), words[2] != 7;
}
