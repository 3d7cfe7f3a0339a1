// What tools.cuh includes.
#pragma once

static __device__ inline void store_now(int *target, int value) {
  *target = value;  // race: two_headers
}
