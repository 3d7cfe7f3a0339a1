// Races on every kind of object: a comment has its name, and where it is declared or allocated.

#include <cuda/atomic>

#include "buffers.cuh"

#define WIDTH 4
#define KERNEL(NAME) __global__ void NAME(int *words, int *other)

struct Pair {
  int first;
  float second;
};

struct Node {
  int value;
  Node *next;
  Pair pairs[3];
};

constexpr int kTile = 16;
typedef Ring<Pair, 2 * WIDTH> PairRing;

__device__ int matrix[8][kTile];                // matrix
__device__ Node heads[4];                       // heads
__managed__ int visits;                         // visits
static __device__ float hidden;                 // hidden
namespace library { __device__ int lock; }      // lock
__device__ cuda::atomic<int> flags[2];          // flags

__global__ void variables() {
  matrix[2][3] += 1;                            // object: `matrix[2][3]` (a `__device__` variable, {matrix}), 512 bytes
  heads[3].pairs[1].second += 1;                // object: `heads[3].pairs[1].second` (a `__device__` variable, {heads}), 160 bytes
  visits += 1;                                  // object: `visits` (a `__managed__` variable, {visits}), 4 bytes
  hidden += 1;                                  // object: `hidden` (a `__device__` variable, {hidden}), 4 bytes
  library::lock += 1;                           // object: `library::lock` (a `__device__` variable, {lock}), 4 bytes
  *(int *)&flags[1] += 1;                       // object: `flags[1]` (a `__device__` variable, {flags}), 8 bytes
}

__global__ void shared_arrays(int *out) {
  extern __shared__ __align__(16) unsigned room[];  // room
  __shared__ float tile[kTile][kTile + 1];      // tile
  __shared__ Pair pairs[32];                    // pairs
  __shared__ Ring<short, 8> ring;               // ring
  __shared__ int total;                         // total
  const int other = (threadIdx.x + 32) % 64;
  if (threadIdx.x == 0) pairs[1].second = ring.slots[3] = total = 0;
  __syncthreads();
  room[threadIdx.x] = threadIdx.x;
  tile[threadIdx.x / 16][threadIdx.x % 16] = threadIdx.x;
  if (threadIdx.x == 33) pairs[1].second = ring.slots[3] = total = 1;
  out[0] = room[other];                         // object: shared `room[{number}]` ({room})
  out[1] = tile[other / 16][other % 16];        // object: shared `tile[{number}][{number}]` ({tile})
  if (threadIdx.x == 1) {
    out[2] = pairs[1].second;                   // object: shared `pairs[1].second` ({pairs})
    out[3] = ring.slots[3];                     // object: shared `ring.slots[3]` ({ring})
    out[4] = total;                             // object: shared `total` ({total})
  }
}

template <int N, class T>
__global__ void generic(T *out) {
  __shared__ T tile[N][N];                      // generic_tile
  tile[threadIdx.x / N][threadIdx.x % N] = threadIdx.x;
  out[threadIdx.x] = tile[(threadIdx.x + 32) % 64 / N][threadIdx.x % N];  // object: shared `tile[{number}][{number}]` ({generic_tile})
}

__global__ void members(Node *nodes, PairRing *ring, int *given, double *list, int2 *pairs, float4 *quads) {
  nodes[2].pairs[1].first += 1;                 // object: `nodes[2].pairs[1].first`, allocated by the cudaMalloc at {nodes}, 400 bytes
  ring->slots[6].second += 1;                   // object: `ring->slots[6].second`, allocated by the cudaMalloc at {ring_call}, 68 bytes
  given[3] += 1;                                // object: `pinned[3]`, allocated by the cudaMallocHost at {pinned}, 64 bytes
  list[1] += 1;                                 // object: `buffers.list[1][1]`, allocated by the cudaMallocAsync at {member}, 64 bytes
  pairs[2].y += 1;                              // object: `pitched[2].y`, allocated by the cudaMallocPitch at {pitched}, 2,048 bytes
  quads[1].z += 1;                              // object: `quads[1].z`, allocated by the cudaMalloc at {device_array}, 128 bytes
}

KERNEL(renamed) {
  words[5] += 1;                                // object: `words[5]`, allocated by the cudaMalloc at {allocate}, 64 bytes
  other[1] += 1;                                // object: `second[1]`, allocated by the cudaMallocManaged at {two_calls}, 32 bytes
}

__global__ void own(int **list) {
  int *made = (int *)malloc(64);                // made
  made[1] = 4;
  list[blockIdx.x] = made;
  int *of_other = *(int *volatile *)&list[1 - blockIdx.x];  // object: `list[{number}]`, allocated by the cudaMalloc at {list}, 16 bytes
  if (of_other) of_other[1] = 5;                // object: `made[1]`, allocated by the malloc at {made}, 64 bytes
}

int main() {
  Node *nodes;
  PairRing *ring;
  int *first, *second, *pinned, **list;
  int2 *pitched;
  float *out;
  size_t pitch;
  Buffers buffers;
  CHECK(cudaMalloc(&nodes, 10 * sizeof(Node)));  // nodes
  cudaMalloc(reinterpret_cast<void **>(&ring), sizeof *ring);  // ring_call
  cudaMallocHost((void **)&pinned, 64);         // pinned
  cudaMallocAsync(&buffers.list[1], 64, 0);     // member
  cudaMallocPitch(&pitched, &pitch, 64, 4);     // pitched
  cudaMallocManaged(&first, 64); cudaMallocManaged(&second, 32);  // two_calls
  cudaMalloc(&out, 4096);
  cudaMalloc(                                   // list
      &list, 16);
  cudaMemset(list, 0, 16);
  int *words;
  allocate((void **)&words, 64);
  variables<<<2, 1>>>();
  shared_arrays<<<1, 64, 256>>>((int *)out);
  generic<16, float><<<1, 64>>>(out);
  members<<<2, 1>>>(nodes, ring, pinned, (double *)buffers.list[1], pitched, device_array<float4>(8));
  renamed<<<2, 1>>>(words, second);
  own<<<2, 1>>>(list);
  return cudaDeviceSynchronize();
}
