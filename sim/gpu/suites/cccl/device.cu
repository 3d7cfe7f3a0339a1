// Device algorithms of CUB: each driver is compiled by its name, with the header that it needs.

#include "driver.cuh"

#include HEADER
#ifdef DRIVER_device_sort_find_non_trivial_runs
#include <cub/device/device_radix_sort.cuh>
#endif

// Calls an algorithm twice: for the size of its temporary storage, and with it.
#define CALL(algorithm, ...)                                                                       \
    do {                                                                                           \
        size_t bytes = 0;                                                                          \
        void *storage = nullptr;                                                                   \
        algorithm(nullptr, bytes, __VA_ARGS__);                                                    \
        cudaMalloc(&storage, bytes);                                                               \
        algorithm(storage, bytes, __VA_ARGS__);                                                    \
    } while (0)

struct IsOdd { __host__ __device__ bool operator()(int a) const { return a & 1; } };
struct Less { __device__ bool operator()(int a, int b) const { return a < b; } };

int main()
{
    int *in = to_device(inputs<int>(INPUTS, 1000)), *out = zeros<int>(INPUTS);
    int *values = to_device(inputs<int>(INPUTS, 1000, INPUTS)), *more = zeros<int>(INPUTS);
    int *count = zeros<int>(1);
#if defined(DRIVER_device_reduce_sum)
    CALL(cub::DeviceReduce::Sum, in, out, INPUTS);
    print("out", out, 1);
#elif defined(DRIVER_device_reduce_max)
    CALL(cub::DeviceReduce::Max, in, out, INPUTS);
    print("out", out, 1);
#elif defined(DRIVER_device_reduce_by_key)
    int *keys = to_device(inputs<int>(INPUTS, 2));
    CALL(cub::DeviceReduce::ReduceByKey, keys, more, in, out, count, cuda::std::plus<>(), INPUTS);
    print("count", count, 1);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_scan_exclusive)
    CALL(cub::DeviceScan::ExclusiveSum, in, out, INPUTS);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_scan_inclusive)
    CALL(cub::DeviceScan::InclusiveSum, in, out, INPUTS);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_radix_sort_keys)
    CALL(cub::DeviceRadixSort::SortKeys, in, out, INPUTS);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_radix_sort_pairs)
    CALL(cub::DeviceRadixSort::SortPairs, in, out, values, more, INPUTS);
    print("out", out, INPUTS);
    print("more", more, INPUTS);
#elif defined(DRIVER_device_merge_sort)
    CALL(cub::DeviceMergeSort::SortKeys, in, INPUTS, Less());
    print("out", in, INPUTS);
#elif defined(DRIVER_device_select_if)
    CALL(cub::DeviceSelect::If, in, out, count, INPUTS, IsOdd());
    print("count", count, 1);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_select_unique)
    int *keys = to_device(inputs<int>(INPUTS, 2));
    CALL(cub::DeviceSelect::Unique, keys, out, count, INPUTS);
    print("count", count, 1);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_partition)
    CALL(cub::DevicePartition::If, in, out, count, INPUTS, IsOdd());
    print("count", count, 1);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_partition_flagged)
    int *flags = to_device(inputs<int>(INPUTS, 2));
    CALL(cub::DevicePartition::Flagged, in, flags, out, count, INPUTS);
    print("count", count, 1);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_select_flagged)
    int *flags = to_device(inputs<int>(INPUTS, 2));
    CALL(cub::DeviceSelect::Flagged, in, flags, out, count, INPUTS);
    print("count", count, 1);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_sort_find_non_trivial_runs)
    int *lengths = zeros<int>(INPUTS), *offsets = zeros<int>(INPUTS);
    CALL(cub::DeviceRadixSort::SortPairs, in, out, values, more, INPUTS);
    CALL(cub::DeviceRunLengthEncode::NonTrivialRuns, out, offsets, lengths, count, INPUTS);
    print("count", count, 1);
    print("out", offsets, INPUTS);
    print("more", lengths, INPUTS);
#elif defined(DRIVER_device_histogram)
    CALL(cub::DeviceHistogram::HistogramEven, in, out, 11, 0, 1000, INPUTS);
    print("out", out, 10);
#elif defined(DRIVER_device_run_length_encode)
    int *keys = to_device(inputs<int>(INPUTS, 2));
    CALL(cub::DeviceRunLengthEncode::Encode, keys, more, out, count, INPUTS);
    print("count", count, 1);
    print("out", out, INPUTS);
#elif defined(DRIVER_device_segmented_reduce)
    int *offsets = to_device(std::vector<int>{0, 100, 100, 350, INPUTS});
    CALL(cub::DeviceSegmentedReduce::Sum, in, out, 4, offsets, offsets + 1);
    print("out", out, 4);
#elif defined(DRIVER_device_adjacent_difference)
    CALL(cub::DeviceAdjacentDifference::SubtractLeftCopy, in, out, INPUTS);
    print("out", out, INPUTS);
#endif
}
