// Runs kernels of a list again and again, each on fresh buffers, and counts the final contents of
// memory.  Usage: kernel_driver LIST FIRST TIMES SECONDS, with SECONDS the most for one entry.
//
// An entry of the list:
//   NAME CUBIN BUFFERS LAUNCHES
//   BYTES CONTENTS                     for each buffer; contents in hexadecimal digits, or zeros
//   KERNEL GX GY GZ BX BY BZ SHARED COOPERATIVE ARGUMENTS   for each launch, and for each argument
//   p BUFFER OFFSET, or s DIGITS       a pointer, or a scalar's bytes
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

typedef std::vector<unsigned char> Bytes;
struct Argument { bool pointer; size_t buffer, offset; Bytes bytes; };
struct Launch { std::string kernel; dim3 grid, block; size_t shared; int cooperative; std::vector<Argument> arguments; };
struct Job { std::string name, cubin; std::vector<Bytes> buffers; std::vector<Launch> launches; };

static Bytes bytes_of(const std::string &digits) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) bytes.push_back(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

static bool failed(cudaError_t error) {
  if (error == cudaSuccess) return false;
  printf("\n@error %s\n", cudaGetErrorName(error));
  fflush(stdout);
  return true;
}

static std::string digits_of(const Bytes &bytes) {
  size_t size = bytes.size();
  while (size && !bytes[size - 1]) --size;
  std::string text;
  char two[3];
  for (size_t i = 0; i < size; ++i) snprintf(two, 3, "%02x", bytes[i]), text += two;
  return text.empty() ? "00" : text;
}

static std::map<std::string, cudaLibrary_t> libraries;

static bool launch(const Job &job, const Launch &table, const std::vector<void *> &buffers) {
  if (!libraries.count(job.cubin)) {
    cudaLibrary_t library;
    if (failed(cudaLibraryLoadFromFile(&library, job.cubin.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0))) return false;
    libraries[job.cubin] = library;
  }
  cudaKernel_t kernel;
  if (failed(cudaLibraryGetKernel(&kernel, libraries[job.cubin], table.kernel.c_str()))) return false;
  std::vector<Bytes> values;
  for (const Argument &each : table.arguments) {
    Bytes value = each.bytes;
    if (each.pointer) {
      char *pointer = (char *)buffers[each.buffer] + each.offset;
      value.assign((unsigned char *)&pointer, (unsigned char *)(&pointer + 1));
    }
    values.push_back(value);
  }
  std::vector<void *> arguments;
  for (Bytes &value : values) arguments.push_back(value.data());
  if (table.shared > 48 * 1024)
    cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, table.shared, 0);
  cudaError_t error = table.cooperative
    ? cudaLaunchCooperativeKernel((const void *)kernel, table.grid, table.block, arguments.data(), table.shared, 0)
    : cudaLaunchKernel((const void *)kernel, table.grid, table.block, arguments.data(), table.shared, 0);
  return !failed(error);
}

// Keeps memory busy beside the kernels, so that they meet other delays.
__global__ void stir(unsigned *words, unsigned rounds) {
  unsigned place = blockIdx.x * 7919 + threadIdx.x * 104729;
  for (unsigned i = 0; i < rounds; ++i) {
    atomicAdd(&words[place & 0xfffff], i);
    place = place * 1664525 + 1013904223;
  }
}

static bool run(const Job &job, int times, double seconds) {
  static unsigned *words;
  static cudaStream_t beside;
  if (!words && (failed(cudaMalloc(&words, 4 << 20)) || failed(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking)))) return false;
  auto begin = std::chrono::steady_clock::now();
  std::vector<void *> buffers;
  for (const Bytes &each : job.buffers) {
    void *buffer;
    if (failed(cudaMalloc(&buffer, each.size()))) return false;
    buffers.push_back(buffer);
  }
  std::map<std::vector<Bytes>, long> states;
  long runs = 0;
  for (; runs < times; ++runs) {
    if (runs == 1) begin = std::chrono::steady_clock::now();  // the first run loads the kernel
    if (runs && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    if (runs % 4) stir<<<32 * (runs % 4), 128, 0, beside>>>(words, 100 * (runs % 7));
    for (size_t i = 0; i < buffers.size(); ++i)
      if (failed(cudaMemcpy(buffers[i], job.buffers[i].data(), job.buffers[i].size(), cudaMemcpyHostToDevice))) return false;
    for (const Launch &table : job.launches)
      if (!launch(job, table, buffers)) return false;
    if (failed(cudaDeviceSynchronize())) return false;
    std::vector<Bytes> state = job.buffers;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (failed(cudaMemcpy(state[i].data(), buffers[i], state[i].size(), cudaMemcpyDeviceToHost))) return false;
    if (states.size() < 1000 || states.count(state)) ++states[state];
  }
  for (void *buffer : buffers) cudaFree(buffer);
  int shown = 0;
  for (auto &[state, count] : states) {
    if (++shown > 24) break;
    printf("\n@state %ld", count);
    for (const Bytes &each : state) printf(" %s", digits_of(each).c_str());
  }
  printf("\n@end %ld %zu\n", runs, states.size());
  fflush(stdout);
  return true;
}

int main(int, char **words) {
  std::ifstream list(words[1]);
  int first = atoi(words[2]), times = atoi(words[3]);
  double seconds = atof(words[4]);
  std::string name;
  for (int number = 0; list >> name; ++number) {
    Job job;
    size_t buffers, launches;
    job.name = name;
    list >> job.cubin >> buffers >> launches;
    for (size_t i = 0; i < buffers; ++i) {
      size_t size;
      std::string digits;
      list >> size >> digits;
      Bytes bytes = digits == "zeros" ? Bytes() : bytes_of(digits);
      bytes.resize(size);
      job.buffers.push_back(bytes);
    }
    for (size_t i = 0; i < launches; ++i) {
      Launch table;
      size_t arguments;
      list >> table.kernel >> table.grid.x >> table.grid.y >> table.grid.z >> table.block.x >> table.block.y
           >> table.block.z >> table.shared >> table.cooperative >> arguments;
      for (size_t j = 0; j < arguments; ++j) {
        Argument argument{};
        std::string kind, digits;
        list >> kind;
        argument.pointer = kind == "p";
        if (argument.pointer) list >> argument.buffer >> argument.offset;
        else list >> digits, argument.bytes = bytes_of(digits);
        table.arguments.push_back(argument);
      }
      job.launches.push_back(table);
    }
    if (number < first) continue;
    printf("\n@begin %s\n", job.name.c_str());
    fflush(stdout);
    if (!run(job, times, seconds)) return 3;
  }
  printf("\n@done\n");
}
