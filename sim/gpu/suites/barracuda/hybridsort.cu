// Bucket sort's histogram: each warp has its own counts in shared memory, and a thread marks its
// entry with its own number until it finds that no other thread has stored over it.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Hybridsort` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int BUCKETS = 64, WARPS = 4, VALUES = 1024;

__device__ void count(volatile unsigned *own, unsigned bucket, unsigned mark) {
  unsigned number;
  do {
    number = (own[bucket] & 0x07ffffff) + 1 | mark;
    own[bucket] = number;
  } while (own[bucket] != number);
}

__global__ void histogram(const int *values, int *counts) {
  __shared__ unsigned all[WARPS][BUCKETS];
  for (int i = threadIdx.x; i < WARPS * BUCKETS; i += blockDim.x) all[i / BUCKETS][i % BUCKETS] = 0;
  __syncthreads();
  const int base = blockIdx.x * VALUES / gridDim.x;
  for (int i = threadIdx.x; i < VALUES / gridDim.x; i += blockDim.x)
    count(all[threadIdx.x / 32], values[base + i], threadIdx.x << 27);
  __syncthreads();
  for (int bucket = threadIdx.x; bucket < BUCKETS; bucket += blockDim.x) {
    int sum = 0;
    for (int warp = 0; warp < WARPS; ++warp) sum += all[warp][bucket] & 0x07ffffff;
    atomicAdd(&counts[bucket], sum);
  }
}

int main() {
  const std::vector<int> values = random_numbers(VALUES, BUCKETS);
  std::vector<int> expected(BUCKETS);
  for (int value : values) ++expected[value];
  const int *input = to_device(values);
  int *counts = zeros_on_device<int>(BUCKETS);
  histogram<<<2, WARPS * 32>>>(input, counts);
  return verdict(to_host(counts, BUCKETS) == expected);
}
