// How programs allocate: through functions, templates and macros of their own.
#pragma once

#include <cuda_runtime.h>

#define CHECK(CALL) \
  if ((CALL) != cudaSuccess) throw 1

template <class T, int N>
struct Ring {
  T slots[N];
  unsigned head;
};

// The caller's names are better than those here.
template <class T>
T *device_array(int count) {
  T *pointer;
  CHECK(cudaMalloc(&pointer, count * sizeof(T)));
  return pointer;
}

inline void allocate(void **pointer, size_t bytes) { CHECK(cudaMalloc(pointer, bytes)); }

struct Buffers {
  int *first, *list[2];
};
