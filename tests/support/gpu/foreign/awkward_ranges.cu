// Kernels of Awkward Array that find where lists begin and end, launched as its Python code does.
#include <cstdio>
#include <vector>

#define ERROR_BITS 8
#define NO_ERROR 18446744073709551615ull

namespace awkward {  // which has integer types of its own
using ::atomicMin;
#include "cuda_common.cu"
#include "awkward_ListOffsetArray_reduce_nonlocal_outstartsstops_64.cu"
#include "awkward_BitMaskedArray_to_ByteMaskedArray.cu"
}  // namespace awkward

using Integer = awkward::int64_t;

int main() {
  const int lists = 16, most = 16, count = lists * most, bytes = 40;
  std::vector<Integer> distinct(count), starts(lists), stops(lists);
  std::vector<unsigned char> bits(bytes), mask(8 * bytes);
  for (int i = 0; i < count; ++i) distinct[i] = i % most < i / most ? i : -1;
  for (int i = 0; i < bytes; ++i) bits[i] = i * 37;
  Integer *given, *first, *last, *temp, *scan;
  unsigned char *packed, *unpacked;
  awkward::uint64_t *error, no_error = NO_ERROR;
  cudaMalloc(&given, count * sizeof(Integer));
  cudaMalloc(&temp, count * sizeof(Integer));
  cudaMalloc(&scan, lists * sizeof(Integer));
  cudaMalloc(&first, lists * sizeof(Integer));
  cudaMalloc(&last, lists * sizeof(Integer));
  cudaMalloc(&packed, bytes);
  cudaMalloc(&unpacked, 8 * bytes);
  cudaMalloc(&error, sizeof(no_error));
  cudaMemcpy(given, distinct.data(), count * sizeof(Integer), cudaMemcpyHostToDevice);
  cudaMemcpy(packed, bits.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(error, &no_error, sizeof(no_error), cudaMemcpyHostToDevice);
  cudaMemset(scan, 0, lists * sizeof(Integer));
  awkward::awkward_ListOffsetArray_reduce_nonlocal_outstartsstops_64_a
      <<<count / 128, 128>>>(first, last, given, Integer(count), Integer(lists), temp, scan, 0ull,
                             error);
  awkward::awkward_ListOffsetArray_reduce_nonlocal_outstartsstops_64_b
      <<<count / 128, 128>>>(first, last, given, Integer(count), Integer(lists), temp, scan, 0ull,
                             error);
  awkward::awkward_BitMaskedArray_to_ByteMaskedArray<<<1, 64>>>(unpacked, packed, Integer(bytes),
                                                                false, true, 0ull, error);
  cudaMemcpy(starts.data(), first, lists * sizeof(Integer), cudaMemcpyDeviceToHost);
  cudaMemcpy(stops.data(), last, lists * sizeof(Integer), cudaMemcpyDeviceToHost);
  cudaMemcpy(mask.data(), unpacked, 8 * bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < lists; ++i) {
    wrong += starts[i] != i * most;
    wrong += stops[i] != i * most + i;
  }
  for (int i = 0; i < 8 * bytes; ++i) wrong += mask[i] != (bits[i / 8] >> i % 8 & 1);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
