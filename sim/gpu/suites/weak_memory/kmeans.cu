// K-means: each point goes to the nearest centre, then each block moves one centre to the mean of
// its points; threads of a block meet at barriers, blocks at the end of a kernel.
//
// Ref: Bugaroo Table I, `kmeans`.

#include "common.cuh"

struct Point {
  int x, y;
};

INLINE Point point(unsigned index) {
  const unsigned bits = scattered(index);
  return {int(bits >> 24), int(bits >> 16 & 0xff)};
}

KERNEL(kmeans_original_assign)(const int *centres, unsigned *membership, unsigned clusters) {
  const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  const Point own = point(index);
  int nearest = 0x7fffffff;
  for (unsigned cluster = 0; cluster < clusters; ++cluster) {
    const int x = own.x - centres[2 * cluster], y = own.y - centres[2 * cluster + 1];
    if (x * x + y * y < nearest) {
      nearest = x * x + y * y;
      membership[index] = cluster;
    }
  }
}

// One block a cluster; `partial` has three words for each thread of the grid.
KERNEL(kmeans_original_update)(const unsigned *membership, int *centres, int *partial,
                               unsigned points) {
  const unsigned cluster = blockIdx.x;
  int *block = partial + 3 * blockDim.x * cluster, *own = block + 3 * threadIdx.x;
  own[0] = own[1] = own[2] = 0;
  for (unsigned index = threadIdx.x; index < points; index += blockDim.x) {
    if (membership[index] % gridDim.x == cluster) {
      own[0] += point(index).x;
      own[1] += point(index).y;
      own[2] += 1;
    }
  }
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      for (unsigned word = 0; word < 3; ++word) own[word] += own[3 * half + word];
    __syncthreads();
  }
  if (threadIdx.x < 2 && block[2] > 0) centres[2 * cluster + threadIdx.x] = block[threadIdx.x] / block[2];
}
