// Merge sort: a launch for each level; every thread finds the place of its element in the runs.
#include <algorithm>

#include "program.cuh"

// Elements before `value` in a sorted run; equal ones count only if `upper`.
__device__ int rank_in(const int *run, int count, int value, bool upper) {
  int first = 0;
  while (count > 0) {
    const int half = count / 2;
    const bool before = upper ? run[first + half] <= value : run[first + half] < value;
    first = before ? first + half + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

__global__ void merge(const int *input, int *output, int count, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int start = i / (2 * width) * 2 * width;
  const int middle = min(start + width, count), end = min(start + 2 * width, count);
  const bool left = i < middle;
  const int other = left ? middle : start;
  const int rank = rank_in(input + other, (left ? end : middle) - other, input[i], !left);
  output[left ? i + rank : i - middle + start + rank] = input[i];
}

int main() {
  std::vector<int> values = random_numbers(500, 200);
  const int count = static_cast<int>(values.size());
  int *from = to_device(values);
#ifdef RACY
  int *to = from;
#else
  int *to = zeros_on_device<int>(values.size());
#endif
  for (int width = 1; width < count; width *= 2) {
    merge<<<(count + 127) / 128, 128>>>(from, to, count, width);
    CHECK(cudaGetLastError());
    std::swap(from, to);
  }
  std::sort(values.begin(), values.end());
  return verdict(to_host(from, values.size()) == values);
}
