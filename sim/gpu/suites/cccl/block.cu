// Block and warp algorithms of CUB: each driver is compiled by its name, with the header that it needs.

#include "driver.cuh"

#include HEADER

#define BLOCK 128
#define EACH 4
#ifdef RACY
#define AGAIN()  // Temporary storage is used again without a barrier.
#else
#define AGAIN() __syncthreads()
#endif

#define KERNEL __global__ void kernel(int *in, int *out)

#if defined(DRIVER_block_reduce_sum)
KERNEL
{
    using Reduce = cub::BlockReduce<int, BLOCK>;
    __shared__ typename Reduce::TempStorage storage;
    int total = Reduce(storage).Sum(in[threadIdx.x]);
    if (!threadIdx.x) out[0] = total;
}
#elif defined(DRIVER_block_reduce_raking)
KERNEL
{
    using Reduce = cub::BlockReduce<int, BLOCK, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage storage;
    int total = Reduce(storage).Sum(in[threadIdx.x]);
    if (!threadIdx.x) out[0] = total;
}
#elif defined(DRIVER_block_reduce_twice)
KERNEL
{
    using Reduce = cub::BlockReduce<int, BLOCK>;
    __shared__ typename Reduce::TempStorage storage;
    int total = Reduce(storage).Sum(in[threadIdx.x]);
    if (!threadIdx.x) out[0] = total;
    AGAIN();
    total = Reduce(storage).Sum(in[BLOCK + threadIdx.x]);
    if (!threadIdx.x) out[1] = total;
}
#elif defined(DRIVER_block_scan_exclusive)
KERNEL
{
    using Scan = cub::BlockScan<int, BLOCK>;
    __shared__ typename Scan::TempStorage storage;
    int value = in[threadIdx.x];
    Scan(storage).ExclusiveSum(value, value);
    out[threadIdx.x] = value;
}
#elif defined(DRIVER_block_scan_warps)
KERNEL
{
    using Scan = cub::BlockScan<int, BLOCK, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage storage;
    int value = in[threadIdx.x];
    Scan(storage).InclusiveSum(value, value);
    out[threadIdx.x] = value;
}
#elif defined(DRIVER_block_scan_twice)
KERNEL
{
    using Scan = cub::BlockScan<int, BLOCK>;
    __shared__ typename Scan::TempStorage storage;
    for (int part = 0; part < 2; ++part) {
        int value = in[part * BLOCK + threadIdx.x];
        Scan(storage).InclusiveSum(value, value);
        out[part * BLOCK + threadIdx.x] = value;
        AGAIN();
    }
}
#elif defined(DRIVER_block_load_transpose)
KERNEL
{
    using Load = cub::BlockLoad<int, BLOCK, EACH, cub::BLOCK_LOAD_TRANSPOSE>;
    __shared__ typename Load::TempStorage storage;
    int items[EACH];
    Load(storage).Load(in, items);
    for (int i = 0; i < EACH; ++i) out[i * BLOCK + threadIdx.x] = items[i];
}
#elif defined(DRIVER_block_store_transpose)
KERNEL
{
    using Store = cub::BlockStore<int, BLOCK, EACH, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ typename Store::TempStorage storage;
    int items[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[i * BLOCK + threadIdx.x];
    Store(storage).Store(out, items);
}
#elif defined(DRIVER_block_exchange)
KERNEL
{
    using Exchange = cub::BlockExchange<int, BLOCK, EACH>;
    __shared__ typename Exchange::TempStorage storage;
    int items[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[i * BLOCK + threadIdx.x];
    Exchange(storage).StripedToBlocked(items, items);
    for (int i = 0; i < EACH; ++i) out[threadIdx.x * EACH + i] = items[i];
}
#elif defined(DRIVER_block_radix_sort)
KERNEL
{
    using Sort = cub::BlockRadixSort<int, BLOCK, EACH>;
    __shared__ typename Sort::TempStorage storage;
    int items[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[threadIdx.x * EACH + i];
    Sort(storage).Sort(items);
    for (int i = 0; i < EACH; ++i) out[threadIdx.x * EACH + i] = items[i];
}
#elif defined(DRIVER_block_merge_sort)
struct Less { __device__ bool operator()(int a, int b) { return a < b; } };
KERNEL
{
    using Sort = cub::BlockMergeSort<int, BLOCK, EACH>;
    __shared__ typename Sort::TempStorage storage;
    int items[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[threadIdx.x * EACH + i];
    Sort(storage).Sort(items, Less());
    for (int i = 0; i < EACH; ++i) out[threadIdx.x * EACH + i] = items[i];
}
#elif defined(DRIVER_block_histogram_atomic) || defined(DRIVER_block_histogram_sort)
#ifdef DRIVER_block_histogram_atomic
#define HISTOGRAM cub::BLOCK_HISTO_ATOMIC
#else
#define HISTOGRAM cub::BLOCK_HISTO_SORT
#endif
KERNEL
{
    using Histogram = cub::BlockHistogram<unsigned char, BLOCK, EACH, 64, HISTOGRAM>;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ int bins[64];
    unsigned char items[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[threadIdx.x * EACH + i] % 64;
    Histogram(storage).Histogram(items, bins);
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}
#elif defined(DRIVER_block_discontinuity)
KERNEL
{
    using Heads = cub::BlockDiscontinuity<int, BLOCK>;
    __shared__ typename Heads::TempStorage storage;
    int items[EACH], flags[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[threadIdx.x * EACH + i] % 2;
    Heads(storage).FlagHeads(flags, items, ::cuda::std::not_equal_to<>());
    for (int i = 0; i < EACH; ++i) out[threadIdx.x * EACH + i] = flags[i];
}
#elif defined(DRIVER_block_adjacent_difference)
struct Difference { __device__ int operator()(int a, int b) { return a - b; } };
KERNEL
{
    using Differences = cub::BlockAdjacentDifference<int, BLOCK>;
    __shared__ typename Differences::TempStorage storage;
    int items[EACH], found[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[threadIdx.x * EACH + i];
    Differences(storage).SubtractLeft(items, found, Difference());
    for (int i = 0; i < EACH; ++i) out[threadIdx.x * EACH + i] = found[i];
}
#elif defined(DRIVER_block_shuffle)
KERNEL
{
    using Shuffle = cub::BlockShuffle<int, BLOCK>;
    __shared__ typename Shuffle::TempStorage storage;
    int found = 0;
    Shuffle(storage).Offset(in[threadIdx.x], found, 1);
    out[threadIdx.x] = threadIdx.x == BLOCK - 1 ? 0 : found;
}
#elif defined(DRIVER_block_radix_rank)
KERNEL
{
    using Rank = cub::BlockRadixRank<BLOCK, 4, false>;
    __shared__ typename Rank::TempStorage storage;
    unsigned keys[EACH];
    int ranks[EACH];
    for (int i = 0; i < EACH; ++i) keys[i] = in[threadIdx.x * EACH + i];
    Rank(storage).RankKeys(keys, ranks, cub::BFEDigitExtractor<unsigned>(0, 4));
    for (int i = 0; i < EACH; ++i) out[threadIdx.x * EACH + i] = ranks[i];
}
#elif defined(DRIVER_warp_reduce)
KERNEL
{
    using Reduce = cub::WarpReduce<int>;
    __shared__ typename Reduce::TempStorage storage[BLOCK / 32];
    int total = Reduce(storage[threadIdx.x / 32]).Sum(in[threadIdx.x]);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = total;
}
#elif defined(DRIVER_warp_reduce_of_some)
KERNEL
{
    using Reduce = cub::WarpReduce<int, 20>;
    __shared__ typename Reduce::TempStorage storage;
    if (threadIdx.x < 20) {
        int most = Reduce(storage).Reduce(in[threadIdx.x], cuda::maximum<>());
        if (!threadIdx.x) out[0] = most;
    }
}
#elif defined(DRIVER_warp_scan)
KERNEL
{
    using Scan = cub::WarpScan<int>;
    __shared__ typename Scan::TempStorage storage[BLOCK / 32];
    int value = in[threadIdx.x];
    Scan(storage[threadIdx.x / 32]).InclusiveSum(value, value);
    out[threadIdx.x] = value;
}
#elif defined(DRIVER_warp_exchange)
KERNEL
{
    using Exchange = cub::WarpExchange<int, EACH>;
    __shared__ typename Exchange::TempStorage storage[BLOCK / 32];
    int items[EACH], warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < EACH; ++i) items[i] = in[(warp * 32 + lane) * EACH + i];
    Exchange(storage[warp]).BlockedToStriped(items, items);
    for (int i = 0; i < EACH; ++i) out[warp * 32 * EACH + i * 32 + lane] = items[i];
}
#elif defined(DRIVER_warp_merge_sort)
struct Less { __device__ bool operator()(int a, int b) { return a < b; } };
KERNEL
{
    using Sort = cub::WarpMergeSort<int, EACH, 32>;
    __shared__ typename Sort::TempStorage storage[BLOCK / 32];
    int items[EACH];
    for (int i = 0; i < EACH; ++i) items[i] = in[threadIdx.x * EACH + i];
    Sort(storage[threadIdx.x / 32]).Sort(items, Less());
    for (int i = 0; i < EACH; ++i) out[threadIdx.x * EACH + i] = items[i];
}
#elif defined(DRIVER_warp_load_transpose)
KERNEL
{
    using Load = cub::WarpLoad<int, EACH, cub::WARP_LOAD_TRANSPOSE>;
    __shared__ typename Load::TempStorage storage[BLOCK / 32];
    int items[EACH], warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Load(storage[warp]).Load(in + warp * 32 * EACH, items);
    for (int i = 0; i < EACH; ++i) out[warp * 32 * EACH + i * 32 + lane] = items[i];
}
#endif

int main()
{
    int *in = to_device(inputs<int>(BLOCK * EACH, 1000)), *out = zeros<int>(BLOCK * EACH);
    kernel<<<1, BLOCK>>>(in, out);
    print("out", out, BLOCK * EACH);
}
