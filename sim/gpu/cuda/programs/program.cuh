// What the programs share: checked calls, random input, and the verdict on their own result.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    const cudaError_t error = (call);                                                 \
    if (error != cudaSuccess) {                                                       \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(2);                                                                   \
    }                                                                                 \
  } while (0)

template <class T>
T *to_device(const std::vector<T> &values) {
  T *memory;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

template <class T>
T *zeros_on_device(size_t count) {
  T *memory;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

template <class T>
std::vector<T> to_host(const T *memory, size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// `count` numbers below `limit`, always the same ones.
inline std::vector<int> random_numbers(size_t count, int limit) {
  std::mt19937 random(1);
  std::vector<int> values(count);
  for (int &value : values) value = static_cast<int>(random() % static_cast<unsigned>(limit));
  return values;
}

inline int verdict(bool right) {
  std::puts(right ? "passed" : "failed");
  return right ? 0 : 1;
}
