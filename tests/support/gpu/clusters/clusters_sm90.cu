// Kernels of clusters: each with what orders its accesses, and without a part of that.
//
// Every kernel has the argument (int *data), 1,024 words.  A comment `// kernel: word` marks a line that the
// list of races names.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define BOTH(NAME, ...)                                                                            \
    extern "C" __global__ void __cluster_dims__(__VA_ARGS__) NAME(int *data) { NAME<true>(data); } \
    extern "C" __global__ void __cluster_dims__(__VA_ARGS__) NAME##_racy(int *data)                \
    {                                                                                              \
        NAME<false>(data);                                                                         \
    }

static __device__ unsigned shared_address(const void *p) { return __cvta_generic_to_shared(p); }
static __device__ unsigned in_block(const void *p, unsigned rank)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(p)), "r"(rank));
    return there;
}
static __device__ int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Histogram whose bins are spread over the blocks, as in the programming guide.
template <bool WAITS> static __device__ void histogram(int *data)
{
    __shared__ int bins[16];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;  // histogram: zero
    if (WAITS) cluster.sync();
    int bin = thread_of_grid() * 7 % 31;
    atomicAdd(cluster.map_shared_rank(bins, bin / 16) + bin % 16, 1);  // histogram: add
    cluster.sync();
    if (threadIdx.x < 16) atomicAdd(data + 16 * cluster.block_rank() + threadIdx.x, bins[threadIdx.x]);
}
BOTH(histogram, 2)

// The same, up to where the bins are complete.
template <bool WAITS> static __device__ void complete(int *data)
{
    __shared__ int count;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) count = 0;
    cluster.sync();
    if (cluster.block_rank() > 0) atomicAdd(cluster.map_shared_rank(&count, 0), 1);  // complete: add
    if (WAITS) cluster.sync();
    else __syncthreads();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) data[blockIdx.x / 4] = count;  // complete: read
    cluster.sync();
}
BOTH(complete, 4)

// Atomics on a word of one block, by all blocks.
template <bool IS_WIDE> static __device__ void counter(int *data)
{
    __shared__ int count;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) count = 0;
    cluster.sync();
    unsigned there = in_block(&count, 0);
    if (IS_WIDE) {
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(there) : "memory");
    } else {
        asm volatile("red.relaxed.cta.shared::cluster.add.u32 [%0], 1;"
                     ::"r"(there) : "memory");  // counter: narrow
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) data[blockIdx.x / 8] = count;
}
BOTH(counter, 8)

// Each block gives its words to the next one.
template <bool WAITS> static __device__ void ring(int *data)
{
    __shared__ int inbox[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    cluster.sync();
    cluster.map_shared_rank(inbox, next)[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;  // ring: give
    if (WAITS) cluster.sync();
    data[thread_of_grid()] = inbox[threadIdx.x];  // ring: take
    cluster.sync();
}
BOTH(ring, 4)

// One block reads the sums of all; none may end before that.
template <bool WAITS> static __device__ void sum(int *data)
{
    __shared__ int part;
    cg::cluster_group cluster = cg::this_cluster();
    int own = __reduce_add_sync(~0u, thread_of_grid());
    if (threadIdx.x == 0) part = own;
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int all = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
            all += *cluster.map_shared_rank(&part, rank);  // sum: read
        data[blockIdx.x / 8] = all;
    }
    for (int step = 0; step < 40; step++) __syncthreads();
    if (WAITS) cluster.sync();
}
BOTH(sum, 8)  // sum: end

// What is read comes behind the wait, not only behind the arrival.
template <bool WAITS> static __device__ void split(int *data)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) word = blockIdx.x + 1;  // split: write
    cluster.barrier_arrive();
    if (WAITS) cluster.barrier_wait();
    data[thread_of_grid()] = *cluster.map_shared_rank(&word, cluster.block_rank() ^ 1);  // split: read
    if (!WAITS) cluster.barrier_wait();
    cluster.sync();
}
BOTH(split, 2)

// A relaxed arrival orders what a fence has released before it.
template <bool RELEASES> static __device__ void relaxed(int *data)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) word = blockIdx.x + 1;  // relaxed: write
    if (RELEASES) asm volatile("fence.acq_rel.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    data[thread_of_grid()] = *cluster.map_shared_rank(&word, cluster.block_rank() ^ 1);  // relaxed: read
    cluster.sync();
}
BOTH(relaxed, 2)

// One block arrives at an mbarrier object of the other when it has written there.
template <bool RELEASES> static __device__ void mbarrier(int *data)
{
    __shared__ long long object;
    __shared__ int words[32];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&object)) : "memory");
    cluster.sync();
    if (cluster.block_rank() == 1) {
        cluster.map_shared_rank(words, 0)[threadIdx.x] = 3 * thread_of_grid();  // mbarrier: write
        unsigned there = in_block(&object, 0);
        if (RELEASES)
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                         ::"r"(there) : "memory");
        else
            asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];"
                         ::"r"(there) : "memory");
    } else {
        for (int done = 0; !done;)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
                         "selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(shared_address(&object)) : "memory");
        data[16 * blockIdx.x + threadIdx.x] = words[threadIdx.x];  // mbarrier: read
    }
    cluster.sync();
}
BOTH(mbarrier, 2)

// A flag in the other block's memory, released and acquired at the scope of the cluster.
template <bool IS_WIDE> static __device__ void flag(int *data)
{
    __shared__ int word, is_there;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) is_there = 0;
    cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 0) {
        *cluster.map_shared_rank(&word, 1) = 42;  // flag: write
        unsigned there = in_block(&is_there, 1);
        if (IS_WIDE) {
            asm volatile("st.release.cluster.shared::cluster.u32 [%0], 1;" ::"r"(there) : "memory");
        } else {
            asm volatile("st.release.cta.shared::cluster.u32 [%0], 1;"
                         ::"r"(there) : "memory");  // flag: narrow
        }
    } else if (threadIdx.x == 0) {
        unsigned own = shared_address(&is_there);
        for (int seen = 0; !seen;)
            asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];"
                         : "=r"(seen) : "r"(own) : "memory");  // flag: await
        data[blockIdx.x] = word;  // flag: read
    }
    cluster.sync();
}
BOTH(flag, 2)

// Fences of the scope of the cluster around a relaxed flag in global memory.
template <bool IS_WIDE> static __device__ void fences(int *data)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    int *ready = data + 512 + blockIdx.x / 2;
    if (threadIdx.x == 0 && cluster.block_rank() == 0) {
        word = 7;  // fences: write
        if (IS_WIDE) asm volatile("fence.acq_rel.cluster;" ::: "memory");
        else asm volatile("fence.acq_rel.cta;" ::: "memory");
        asm volatile("st.relaxed.cluster.u32 [%0], 1;" ::"l"(ready) : "memory");
    } else if (threadIdx.x == 0) {
        for (int seen = 0; !seen;)
            asm volatile("ld.relaxed.cluster.u32 %0, [%1];" : "=r"(seen) : "l"(ready) : "memory");
        asm volatile("fence.acq_rel.cluster;" ::: "memory");
        data[blockIdx.x] = *cluster.map_shared_rank(&word, 0);  // fences: read
    }
    cluster.sync();
}
BOTH(fences, 2)

// Tiles change places in a cluster of two times two blocks.
template <bool OF_CLUSTER> static __device__ void tiles(int *data)
{
    __shared__ int tile[32];
    cg::cluster_group cluster = cg::this_cluster();
    dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    tile[threadIdx.x] = 1000 * blockIdx.y + 100 * blockIdx.x + threadIdx.x;  // tiles: write
    if (OF_CLUSTER) cluster.sync();
    else __syncthreads();
    int *other = cluster.map_shared_rank(tile, at.x * size.x + at.y);
    unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    data[32 * block + threadIdx.x] = other[31 - threadIdx.x];  // tiles: read
    cluster.sync();
}
BOTH(tiles, 2, 2)

// The barrier of a cluster orders global memory too, but only within the cluster.
template <bool IS_INSIDE> static __device__ void handover(int *data)
{
    cg::cluster_group cluster = cg::this_cluster();
    data[512 + thread_of_grid()] = thread_of_grid();  // handover: write
    cluster.sync();
    unsigned other = IS_INSIDE ? blockIdx.x ^ 1 : blockIdx.x ^ 2;
    data[thread_of_grid()] = data[512 + other * blockDim.x + threadIdx.x];  // handover: read
}
BOTH(handover, 2)

// Each step reads the neighbours' words of the step before, and waits before it overwrites them.
template <bool WAITS> static __device__ void steps(int *data)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned left = (cluster.block_rank() + 3) % 4, right = (cluster.block_rank() + 1) % 4;
    if (threadIdx.x == 0) word = blockIdx.x;
    for (int step = 0; step < 3; step++) {
        cluster.sync();
        int next = *cluster.map_shared_rank(&word, left) + *cluster.map_shared_rank(&word, right);  // steps: read
        if (WAITS) cluster.sync();
        else __syncthreads();
        if (threadIdx.x == 0) word = next;  // steps: write
    }
    __syncthreads();
    data[thread_of_grid()] = word;
    cluster.sync();
}
BOTH(steps, 4)

// A pointer to a block's shared memory that another block gets through global memory.
template <bool WAITS> static __device__ void pointer(int *data)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    long long *places = (long long *)(data + 512);
    if (threadIdx.x == 0) {
        word = 5 * blockIdx.x;
        places[blockIdx.x] = (long long)&word;
    }
    cluster.sync();
    int *there = (int *)places[blockIdx.x ^ 1];
    asm("" : "+l"(there));  // the compiler takes it for a pointer to global memory otherwise
    if (threadIdx.x == 0) *there += 1;  // pointer: update
    if (WAITS) cluster.sync();
    if (threadIdx.x == 1) data[blockIdx.x] = word;  // pointer: read
    cluster.sync();
}
BOTH(pointer, 2)
