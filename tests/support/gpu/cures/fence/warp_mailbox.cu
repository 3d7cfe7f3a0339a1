// Two warps of a block: one fills a record in shared memory, the other waits for it.
#include <cstdio>
#include <cuda_runtime.h>

struct Record {
  int id, weight;
};

__global__ void exchange(const int *in, int *out) {
  __shared__ Record record;
  __shared__ int is_full;
  if (threadIdx.x == 0) is_full = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    record.id = in[0];
    record.weight = in[1];
    atomicExch_block(&is_full, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd_block(&is_full, 0) == 0) {
    }
    __threadfence_block();
    *out = record.id * record.weight;
  }
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 2 * sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  in[0] = 5, in[1] = 8;
  *out = 0;
  exchange<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  return printf("%d\n", *out), *out != 40;
}
