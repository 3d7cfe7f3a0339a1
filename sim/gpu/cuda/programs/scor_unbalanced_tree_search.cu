// UTS of ScoR as a whole program: kernels of the workload, host code of its own.
#include "../../workloads/unbalanced_tree_search.cu"
#include "program.cuh"

#ifdef RACY
constexpr unsigned SWITCHES = BLOCK_SCOPE_PUSH_ADD | BLOCK_SCOPE_POP_LOCK;
#else
constexpr unsigned SWITCHES = 0;
#endif

unsigned host_mix(unsigned x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

// Counts the nodes of a tree, and those of them that are leaves.
void count_tree(unsigned node, int levels, int &nodes, int &leaves) {
  const int level = node >> STATE_BITS;
  const int children = level == levels ? 0 : host_mix(node) % (MOST_CHILDREN + 1);
  nodes += 1;
  leaves += children == 0;
  for (int number = 0; number < children; ++number) {
    const unsigned state = host_mix(node + 0x9E3779B9u * (number + 1));
    const unsigned child = (level + 1u) << STATE_BITS | (state & ((1u << STATE_BITS) - 1));
    count_tree(child, levels, nodes, leaves);
  }
}

int main() {
  constexpr int BLOCKS = 4, THREADS = 64, TREES = 12, LEVELS = 4, LOCAL = 64, STEAL = 1024;
  std::vector<Stack> stacks(BLOCKS);
  std::vector<unsigned> slots(BLOCKS * LOCAL);
  int nodes = 0, leaves = 0, tree = 0;
  for (int value : random_numbers(TREES, 1 << STATE_BITS)) {
    const unsigned root = 1u << STATE_BITS | static_cast<unsigned>(value);
    Stack &stack = stacks[tree % BLOCKS];
    slots[tree % BLOCKS * LOCAL + stack.available++] = root;
    count_tree(root, LEVELS, nodes, leaves);
    ++tree;
  }
  Stack *local = to_device(stacks);
  search<<<BLOCKS, THREADS>>>(local, zeros_on_device<Stack>(BLOCKS), to_device(slots),
                              zeros_on_device<unsigned>(BLOCKS * STEAL), LOCAL, STEAL, LEVELS,
                              SWITCHES);
  CHECK(cudaGetLastError());
  for (const Stack &stack : to_host(local, BLOCKS)) {
    nodes -= stack.nodes;
    leaves -= stack.leaves;
  }
  return verdict(nodes == 0 && leaves == 0);
}
