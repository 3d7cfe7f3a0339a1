// Graph colouring: all vertices choose a colour at once, the edges find those that clash, and
// these choose again.  A colour is a set of 32 and one bit in it; no bit: not coloured.  Each
// kernel runs over work queues, the first over vertices, the others over edges.

#include "work_queue.cuh"

// Vertices spread their first choice over this many colours, so that few clash.
constexpr int SPREAD = 8;

extern "C" __global__ void assign(int *heads, const int *tails, int *chunks, int *owners,
                                  unsigned *colors, int *sets, unsigned *forbidden,
                                  unsigned *tried, unsigned switches) {
  for_each_item({heads, tails, chunks, owners}, switches, [=](int vertex) {
    if (colors[vertex] != 0) return;
    unsigned taken = forbidden[vertex] | tried[vertex];
    if (taken == ~0u) {
      taken = 0;
      sets[vertex] += 1;
      forbidden[vertex] = 0;
    }
    const int first = vertex * 0x9E3779B1u >> 16;
    int bit = first % SPREAD;
    while (taken >> bit & 1) bit = (bit + 1) % 32;
    colors[vertex] = 1u << bit;
    tried[vertex] = taken | 1u << bit;
  });
}

extern "C" __global__ void detect(int *heads, const int *tails, int *chunks, int *owners,
                                  unsigned *colors, const int *sets, const int *edges,
                                  int *complete, unsigned switches) {
  for_each_item({heads, tails, chunks, owners}, switches, [=](int edge) {
    unsigned *one = &colors[edges[2 * edge]];
    unsigned *other = &colors[edges[2 * edge + 1]];
    const bool same_set = sets[edges[2 * edge]] == sets[edges[2 * edge + 1]];
    if (same_set && atomicAdd(one, 0u) == atomicAdd(other, 0u)) atomicExch(one, 0u);
    if (atomicAdd(one, 0u) == 0 || atomicAdd(other, 0u) == 0) atomicExch(complete, 0);
  });
}

extern "C" __global__ void forbid(int *heads, const int *tails, int *chunks, int *owners,
                                  const unsigned *colors, const int *sets,
                                  unsigned *forbidden, const int *edges, unsigned switches) {
  for_each_item({heads, tails, chunks, owners}, switches, [=](int edge) {
    const int one = edges[2 * edge];
    const int other = edges[2 * edge + 1];
    if (sets[one] != sets[other]) return;
    if (colors[one] == 0) atomicOr(&forbidden[one], colors[other]);
    if (colors[other] == 0) atomicOr(&forbidden[other], colors[one]);
  });
}
