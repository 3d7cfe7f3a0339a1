// Ring buffer with one producer and one consumer; head and tail count without end.
#pragma once

template <typename T, unsigned SIZE>
struct RingBuffer {
  T slots[SIZE];
  unsigned head, tail;

  __device__ void push(unsigned place, const T &value) {
    while (place - atomicAdd(&head, 0) == SIZE) {
    }
    __threadfence();
    slots[place % SIZE] = value;
    atomicAdd(&tail, 1);
  }

  __device__ T pop(unsigned place) {
    while (atomicAdd(&tail, 0) == place) {
    }
    __threadfence();
    const T value = slots[place % SIZE];
    __threadfence();
    atomicAdd(&head, 1);
    return value;
  }
};
