// Merge of two sorted lists of 16 keys by one warp: each key searches its place.
#include <cstdio>
#include <cuda_runtime.h>

__device__ int count_below(const int *list, int key, bool or_equal) {
  int low = 0, high = 16;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (list[middle] < key || (or_equal && list[middle] == key)) low = middle + 1;
    else high = middle;
  }
  return low;
}

__global__ void merge(const int *lists, int *merged) {
  __shared__ int keys[2][16];
  const int list = threadIdx.x / 16, own = threadIdx.x % 16;
  keys[list][own] = lists[threadIdx.x];
  const int key = lists[threadIdx.x];
  merged[own + count_below(keys[1 - list], key, list == 1)] = key;
}

int main() {
  int *lists, *merged, wrong = 0;
  cudaMallocManaged(&lists, 32 * sizeof(int));
  cudaMallocManaged(&merged, 32 * sizeof(int));
  for (int i = 0; i < 16; ++i) lists[i] = 2 * i, lists[16 + i] = 2 * i + 1;
  merge<<<1, 32>>>(lists, merged);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) wrong += merged[i] != i;
  return printf("%d wrong\n", wrong), wrong != 0;
}
