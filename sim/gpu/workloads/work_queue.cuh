// Work queues of the graph applications: each block has a range of work, which it takes in
// chunks of one item for each thread; a block that has finished its own steals chunks of others.

enum QueueSwitch : unsigned {
  NO_BARRIER_BEFORE_TAKE = 1,
  BLOCK_SCOPE_STEAL = 2,
  BLOCK_SCOPE_TAKE = 4,
  NO_BARRIER_AFTER_TAKE = 8,
};

// Chunk that no queue has: every thread that reads it ends.
constexpr int NO_WORK = 0x7fffffff;

// For each block: `heads` first item not taken yet, `tails` end of its range; `chunks` first
// item of the chunk being worked on, and `owners` the queue that it comes from.
struct Queues {
  int *heads;
  const int *tails;
  int *chunks;
  int *owners;
};

__device__ inline int steal(const Queues &queues, int own, unsigned switches) {
  const int blocks = gridDim.x;
  const int threads = blockDim.x;
  int victim = own;
  for (int k = 1; k < blocks; k++) {
    victim = (own + k) % blocks;
    if (atomicAdd(&queues.heads[victim], 0) + threads < queues.tails[victim]) break;
  }
  int chunk;
  if (switches & BLOCK_SCOPE_STEAL) {
    chunk = atomicAdd_block(&queues.heads[victim], threads);
  } else {
    chunk = atomicAdd(&queues.heads[victim], threads);
  }
  atomicExch_block(&queues.owners[blockIdx.x], victim);
  return chunk < queues.tails[victim] ? chunk : NO_WORK;
}

// Calls work(item) for every item of every queue.
template <typename Work>
__device__ inline void for_each_item(const Queues &queues, unsigned switches, Work work) {
  const int t = threadIdx.x;
  const int threads = blockDim.x;
  int *chunk = &queues.chunks[blockIdx.x];
  int *owner = &queues.owners[blockIdx.x];
  int queue = blockIdx.x;
  if (t == 0) {
    *chunk = atomicAdd(&queues.heads[queue], threads);
    atomicExch_block(owner, queue);
  }
  __syncthreads();
  int first = *chunk;
  int end = queues.tails[queue];
  while (first < end) {
    if (first + t < end) work(first + t);
    if (!(switches & NO_BARRIER_BEFORE_TAKE)) __syncthreads();
    if (t == 0) {
      if (switches & BLOCK_SCOPE_TAKE) {
        *chunk = atomicAdd_block(&queues.heads[queue], threads);
      } else {
        *chunk = atomicAdd(&queues.heads[queue], threads);
      }
    }
    if (!(switches & NO_BARRIER_AFTER_TAKE)) __syncthreads();
    first = *chunk;
    if (first < end) continue;
    __syncthreads();
    if (t == 0) *chunk = steal(queues, queue, switches);
    __syncthreads();
    queue = atomicAdd_block(owner, 0);
    first = *chunk;
    end = queues.tails[queue];
  }
}
