// Hash table whose buckets have locks: taken by compare-and-swap without a fence, freed by a mere
// store.
//
// Ref: BARRACUDA (PLDI'17) Table 1 and Section 6.3, `Hashtable` of GPU-TM.
#include "../../cuda/programs/program.cuh"

constexpr int BUCKETS = 8, THREADS = 32, BLOCKS = 2;

__global__ void insert(const int *keys, int *heads, int *next, int *locks) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x, bucket = keys[own] % BUCKETS;
  for (bool done = false; !done;) {
    if (atomicCAS(&locks[bucket], 0, 1) == 0) {
      next[own] = heads[bucket];
      heads[bucket] = own;
      locks[bucket] = 0;
      done = true;
    }
  }
}

int main() {
  const std::vector<int> keys = random_numbers(THREADS * BLOCKS, 1000);
  const int *key = to_device(keys);
  int *heads = to_device(std::vector<int>(BUCKETS, -1)), *locks = zeros_on_device<int>(BUCKETS);
  int *next = zeros_on_device<int>(THREADS * BLOCKS);
  insert<<<BLOCKS, THREADS>>>(key, heads, next, locks);
  const std::vector<int> first = to_host(heads, BUCKETS), rest = to_host(next, THREADS * BLOCKS);
  int found = 0;
  for (int bucket = 0; bucket < BUCKETS; ++bucket)
    for (int entry = first[bucket]; entry >= 0; entry = rest[entry])
      found += keys[entry] % BUCKETS == bucket;
  return verdict(found == THREADS * BLOCKS);
}
