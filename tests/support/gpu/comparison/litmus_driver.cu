// Runs litmus tests of a list, each for some time and with ever other parameters, and counts what
// their instances observe.  Usage: litmus_driver LIST FIRST SECONDS SEED
//
// A line of the list:
//   NAME CUBIN BLOCKS THREADS INSTANCES CLUSTER VARIABLES (BYTES VALUE)... COLUMNS NUMBER...
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#define CHECK(CALL) do { cudaError_t error = (CALL); if (error != cudaSuccess) { \
  printf("\n@error %s\n", cudaGetErrorName(error)); fflush(stdout); return false; } } while (0)

__global__ void fill(char *memory, unsigned count, unsigned stride, int bytes, unsigned long long value) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  char *place = memory + (size_t)i * stride;
  if (bytes == 8) *(unsigned long long *)place = value;
  else if (bytes == 4) *(unsigned *)place = value;
  else if (bytes == 2) *(unsigned short *)place = value;
  else *(unsigned char *)place = value;
}

__global__ void gather(unsigned long long *out, const char *memory, unsigned count, unsigned stride, int bytes, int columns) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const char *place = memory + (size_t)i * stride;
  out[(size_t)i * columns] = bytes == 8 ? *(const unsigned long long *)place : bytes == 4 ? *(const unsigned *)place
    : bytes == 2 ? *(const unsigned short *)place : *(const unsigned char *)place;
}

struct Test {
  std::string name, cubin;
  unsigned blocks, threads, instances, cluster;
  std::vector<std::pair<int, unsigned long long>> variables;
  std::vector<int> columns;
};

const size_t MEMORY = 256u << 20, SCRATCH = (1u << 20) + 64;
static char *memory;
static unsigned long long *results;
static unsigned *counters, *places, *scratch;
const unsigned MOST = 1 << 16, MOST_BLOCKS = 1 << 12;

static bool run(const Test &test, double seconds, std::mt19937 &random) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  CHECK(cudaLibraryLoadFromFile(&library, test.cubin.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "litmus"));
  struct Seen { std::vector<unsigned long long> values; long count; };
  std::unordered_map<uint64_t, Seen> seen;
  const size_t width = test.columns.size();
  std::vector<unsigned long long> host;
  std::vector<unsigned> order;
  long launches = 0, total = 0;
  auto begin = std::chrono::steady_clock::now();
  auto among = [&](std::initializer_list<unsigned> values) { return values.begin()[random() % values.size()]; };
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
    const bool many = test.instances > 1;
    unsigned groups = (many ? among({8, 32, 64}) : among({32, 128, 256})) * 4 / test.blocks;
    if (!groups) groups = 1;
    const unsigned count = groups * test.instances, stride = among({16, 16, 64, 128, 256});
    unsigned region = (count * stride + 1023) / 1024 * 1024 + among({0, 32, 128, 4096});
    if (region * test.variables.size() > MEMORY) continue;
    unsigned stress = among({0, 0, 64, 1024}), extra = stress ? among({16, 64, 128}) : 0;
    if (test.cluster > 1) extra = extra / test.cluster * test.cluster;
    const unsigned blocks = groups * test.blocks + extra;
    unsigned seed = random(), delay = among({0, 0, 7, 63, 511}), flags = random() % 8, preload = random() % 2 ? random() : 0;
    order.resize(blocks);
    for (unsigned i = 0; i < blocks; ++i) order[i] = i;
    if (test.cluster == 1 && random() % 2)
      for (unsigned i = blocks - 1; i; --i) std::swap(order[i], order[random() % (i + 1)]);
    CHECK(cudaMemcpy(places, order.data(), blocks * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(memory, 0, (size_t)region * test.variables.size() + stride));
    CHECK(cudaMemset(results, 0xff, (size_t)count * width * 8 + 8));
    CHECK(cudaMemset(counters, 0, MOST_BLOCKS * 4));
    for (size_t v = 0; v < test.variables.size(); ++v)
      if (test.variables[v].second)
        fill<<<(count + 255) / 256, 256>>>(memory + v * region, count, stride, test.variables[v].first, test.variables[v].second);
    unsigned long long bytes_width = width;
    void *arguments[] = {&memory, &results, &counters, &places, &scratch, &groups, (void *)&stride, &region,
                         &seed, &delay, &flags, &preload, &stress};
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = test.threads;
    cudaLaunchAttribute cluster;
    if (test.cluster > 1) {
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = test.cluster, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
      config.attrs = &cluster, config.numAttrs = 1;
    }
    CHECK(cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
    for (size_t c = 0; c < width; ++c)
      if (test.columns[c] >= 0)
        gather<<<(count + 255) / 256, 256>>>(results + c, memory + (size_t)test.columns[c] * region, count, stride,
                                             test.variables[test.columns[c]].first, bytes_width);
    host.resize((size_t)count * width + 1);
    CHECK(cudaMemcpy(host.data(), results, (size_t)count * width * 8, cudaMemcpyDeviceToHost));
    uint64_t last = 0;
    Seen *entry = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned long long *row = &host[(size_t)i * width];
      uint64_t hash = 1469598103934665603u;
      for (size_t c = 0; c < width; ++c) hash = (hash ^ row[c]) * 1099511628211u, hash ^= hash >> 29;
      if (!entry || hash != last) {
        entry = &seen[hash];
        if (entry->values.empty()) entry->values.assign(row, row + width), entry->count = 0;
        last = hash;
      }
      ++entry->count;
    }
    total += count;
    ++launches;
  }
  for (auto &[hash, entry] : seen) {
    printf("\n@outcome %ld", entry.count);
    for (unsigned long long value : entry.values) printf(" %llu", value);
  }
  printf("\n@end %ld %ld\n", launches, total);
  fflush(stdout);
  cudaLibraryUnload(library);
  return true;
}

static bool prepare() {
  CHECK(cudaMalloc(&memory, MEMORY + 4096));
  CHECK(cudaMalloc(&results, (size_t)MOST * 16 * 8));
  CHECK(cudaMalloc(&counters, MOST_BLOCKS * 4));
  CHECK(cudaMalloc(&places, MOST_BLOCKS * 4));
  CHECK(cudaMalloc(&scratch, SCRATCH));
  CHECK(cudaMemset(scratch, 0, SCRATCH));
  return true;
}

int main(int, char **words) {
  std::ifstream list(words[1]);
  const int first = atoi(words[2]);
  const double seconds = atof(words[3]);
  std::mt19937 random(atoi(words[4]));
  if (!prepare()) return 3;
  Test test;
  for (int number = 0; list >> test.name; ++number) {
    size_t variables, columns;
    list >> test.cubin >> test.blocks >> test.threads >> test.instances >> test.cluster >> variables;
    test.variables.resize(variables);
    for (auto &each : test.variables) list >> each.first >> each.second;
    list >> columns;
    test.columns.resize(columns);
    for (int &each : test.columns) list >> each;
    if (number < first) continue;
    printf("\n@begin %s\n", test.name.c_str());
    fflush(stdout);
    if (!run(test, seconds, random)) return 3;
  }
  printf("\n@done\n");
}
