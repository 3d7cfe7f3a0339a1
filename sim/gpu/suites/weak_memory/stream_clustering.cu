// Stream clustering: what is gained if a candidate becomes a centre, for each point; then the
// decision.  Threads share nothing within a kernel.
//
// Ref: Bugaroo Table I, `streamcluster`.

#include "common.cuh"

INLINE int distance(unsigned a, unsigned b) {
  const int x = int(scattered(a) >> 24) - int(scattered(b) >> 24);
  const int y = int(scattered(a) >> 16 & 0xff) - int(scattered(b) >> 16 & 0xff);
  return x * x + y * y;
}

KERNEL(stream_clustering_original_gain)(const unsigned *centre, int *gain, unsigned candidate) {
  const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  gain[index] = distance(index, centre[index]) - distance(index, candidate);
}

// Of one block: every thread decides for its own points, all alike.
KERNEL(stream_clustering_original_decide)(unsigned *centre, const int *gain, unsigned candidate,
                                          int cost, unsigned points) {
  int all = -cost;
  for (unsigned index = 0; index < points; ++index) all += max(gain[index], 0);
  for (unsigned index = threadIdx.x; index < points; index += blockDim.x)
    if (all > 0 && gain[index] > 0) centre[index] = candidate;
}
