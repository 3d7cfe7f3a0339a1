// Kernels of Awkward Array that list all pairs of each list, launched as its Python code does.
#include <cstdio>
#include <vector>

#define ERROR_BITS 8
#define NO_ERROR 18446744073709551615ull

namespace awkward {  // which has integer types of its own
using ::atomicMin;
#include "cuda_common.cu"
#include "awkward_ListArray_combinations.cu"
}  // namespace awkward

using Integer = awkward::int64_t;

template <typename T>
static T *device(const std::vector<T> &values) {
  T *copy;
  cudaMalloc(&copy, values.size() * sizeof(T));
  cudaMemcpy(copy, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return copy;
}

template <typename T>
static std::vector<T> host(const T *values, int count) {
  std::vector<T> copy(count);
  cudaMemcpy(copy.data(), values, count * sizeof(T), cudaMemcpyDeviceToHost);
  return copy;
}

int main() {
  const int lists = 70, n = 2, block = 128;
  std::vector<Integer> starts(lists), stops(lists), offsets(lists + 1), parents;
  std::vector<Integer> firsts, seconds;
  for (int i = 0, at = 0; i < lists; ++i) {
    starts[i] = at;
    stops[i] = at += i % 6;
    for (Integer j = starts[i]; j < stops[i]; ++j)
      for (Integer k = j + 1; k < stops[i]; ++k) {
        firsts.push_back(j);
        seconds.push_back(k);
        parents.push_back(i);
      }
  }
  const int total = firsts.size(), grid = (total + block - 1) / block;
  awkward::uint64_t *error = device(std::vector<awkward::uint64_t>{NO_ERROR});
  Integer *begin = device(starts), *end = device(stops), *scan = device(offsets);
  Integer *index = device(std::vector<Integer>(n)), *owner = device(parents);
  Integer *local = device(std::vector<Integer>(total));
  std::vector<Integer *> carries = {device(std::vector<Integer>(total)),
                                    device(std::vector<Integer>(total))};
  Integer **carry = device(carries);
  awkward::awkward_ListArray_combinations_a<Integer, Integer, Integer, Integer, Integer>
      <<<1, block>>>(carry, index, index, n, false, begin, end, lists, scan, 0, error);
  offsets = host(scan, lists + 1);
  for (int i = 0; i < lists; ++i) offsets[i + 1] += offsets[i];
  int wrong = offsets[lists] != total;
  cudaMemcpy(scan, offsets.data(), offsets.size() * sizeof(Integer), cudaMemcpyHostToDevice);
  awkward::awkward_ListArray_combinations_b<Integer, Integer, Integer, Integer, Integer>
      <<<grid, block>>>(carry, index, index, n, false, begin, end, lists, scan, owner, local, 0,
                        error);
  awkward::awkward_ListArray_combinations_c<Integer, Integer, Integer, Integer, Integer>
      <<<grid, block>>>(carry, index, index, n, false, begin, end, lists, scan, owner, local, 0,
                        error);
  wrong += host(carries[0], total) != firsts;
  wrong += host(carries[1], total) != seconds;
  wrong += host(error, 1)[0] != NO_ERROR;
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
