// Functions of a program's own header; a comment names the kernel that races at a line.
#pragma once

#include "inner.cuh"

static __device__ inline void add_to(int *total, int value) {
  *total += value;  // race: plain_header
}

static __device__ inline void store_later(int *target, int value) {
  if (value >= 0)
    store_now(target, value);
}

static __device__ __noinline__ void count_up(int *count) {
  *count = *count + 1;  // race: called_function
}

template <int DISTANCE> __device__ inline int neighbour(int *shared, int thread) {
  shared[thread] = thread;                 // race: template_stencil
  return shared[(thread + DISTANCE) % 64];  // race: template_stencil
}

template <class T> struct Stack {
  T *data;
  int *top;

  __device__ void push(T value) {
    int place = atomicAdd(top, 1);
    data[place / 4] = value;  // race: class_template
  }

  __device__ T peek() const {
    return data[0];  // race: method_read
  }
};

template <class Body> __device__ inline void for_each(int count, Body body) {
  for (int i = 0; i < count; ++i)
    body(i);
}

template <int LEVEL> struct Tree {
  __device__ static void climb(int *root, int value) { Tree<LEVEL - 1>::climb(root, value); }
};

template <> struct Tree<0> {
  __device__ static void climb(int *root, int value) {
    *root = value;  // race: recursive_template
  }
};

struct Flag {
  int word;

  __device__ void operator=(int value) {
    word = value;  // race: operator_in_header
  }

  __device__ operator int() const {
    return word;  // race: operator_in_header
  }
};
