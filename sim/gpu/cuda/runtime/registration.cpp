// What the program's start-up code registers: fat binaries, kernels and variables.  They are sent
// to the executor when they are first used.

#include <cstring>
#include <map>
#include <memory>

#include "kernels.h"
#include "missing.h"

namespace racetrap {
namespace {

struct FatBinary;

struct Wrapper {
  uint32_t magic, version;
  const FatBinary *data;
  const FatBinary *const *linked;  // of version 2: those of the program's files, then null
};

struct FatBinary {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};

struct Variable {
  void **module;
  std::string name;
  void **managed;  // where the program has its address, of a managed variable
  bool found = false;
  FindSymbolReply place{};
};

// Version of a wrapper of files that were compiled separately (-rdc=true).
constexpr uint32_t of_linked_files = 2;

struct Module {
  const Wrapper *wrapper;
  uint32_t number = 0;
  bool loaded = false;
  cudaError_t error = cudaSuccess;
};

// Objects of static constructors: they must be there before those of the program run.
template <class Value>
std::map<const void *, Value> &table() {
  static auto *entries = new std::map<const void *, Value>;
  return *entries;
}

std::string bytes_of(const FatBinary &binary) {
  return {reinterpret_cast<const char *>(&binary), binary.header_bytes + binary.bytes};
}

cudaError_t load(void **handle, uint32_t &number) {
  Module &module = *reinterpret_cast<Module *>(handle);
  if (!module.loaded) {
    LoadModuleReply reply;
    std::string binaries = bytes_of(*module.wrapper->data);
    if (module.wrapper->version == of_linked_files)
      for (auto *each = module.wrapper->linked; *each; ++each) binaries += bytes_of(**each);
    module.error = ask(LoadModuleRequest{}, reply, binaries.data(), binaries.size());
    module.number = reply.module;
    module.loaded = true;
  }
  number = module.number;
  return module.error;
}

cudaError_t look_up(Kernel &kernel) {
  uint32_t module;
  cudaError_t error = load(kernel.module, module);
  if (error == cudaSuccess)
    error = ask(FindKernelRequest{module}, kernel.facts, kernel.name.data(), kernel.name.size());
  if (error != cudaSuccess) return error;
  kernel.parameters.resize(kernel.facts.parameters);
  for (uint32_t number = 0; number < kernel.facts.parameters; ++number) {
    ParameterReply &place = kernel.parameters[number];
    error = ask(ParameterRequest{kernel.facts.kernel, number}, place);
    if (error != cudaSuccess) return error;
    if (place.bytes > kernel.facts.parameter_bytes ||
        place.offset > kernel.facts.parameter_bytes - place.bytes)
      give_up("parameter of a kernel must lie among the bytes of all");
  }
  kernel.dynamic_limit = shared_bytes_of_block - kernel.facts.shared_bytes;
  kernel.found = true;
  return cudaSuccess;
}

cudaError_t look_up(Variable &variable) {
  uint32_t module;
  cudaError_t error = load(variable.module, module);
  if (error == cudaSuccess)
    error = ask(FindSymbolRequest{module}, variable.place, variable.name.data(),
                variable.name.size());
  if (error == cudaSuccess && variable.managed) {
    error = open_to_host(variable.place.address, variable.place.bytes);
    *variable.managed = reinterpret_cast<void *>(variable.place.address);
  }
  variable.found = error == cudaSuccess;
  return error;
}

}  // namespace

cudaError_t find_kernel(const void *function, Kernel *&kernel) {
  Guard held = guard();
  auto found = table<Kernel>().find(function);
  if (found == table<Kernel>().end()) return cudaErrorInvalidDeviceFunction;
  kernel = &found->second;
  return kernel->found ? cudaSuccess : look_up(*kernel);
}

cudaError_t find_symbol(const void *symbol, FindSymbolReply &place) {
  Guard held = guard();
  auto found = table<Variable>().find(symbol);
  if (found == table<Variable>().end()) return cudaErrorInvalidSymbol;
  Variable &variable = found->second;
  cudaError_t error = variable.found ? cudaSuccess : look_up(variable);
  place = variable.place;
  return error;
}

}  // namespace racetrap

using racetrap::table;

extern "C" {

void **__cudaRegisterFatBinary(void *data) {
  racetrap::announce();
  return reinterpret_cast<void **>(
      new racetrap::Module{static_cast<const racetrap::Wrapper *>(data)});
}

void __cudaRegisterFatBinaryEnd(void **) {}

void __cudaUnregisterFatBinary(void **) {}

void __cudaRegisterFunction(void **module, const char *function, char *, const char *name, int,
                            uint3 *, uint3 *, dim3 *, dim3 *, int *) {
  table<racetrap::Kernel>()[function] = racetrap::Kernel{module, name};
}

void __cudaRegisterVar(void **module, char *symbol, char *, const char *name, int, size_t, int,
                       int) {
  table<racetrap::Variable>()[symbol] = racetrap::Variable{module, name, nullptr};
}

void __cudaRegisterManagedVar(void **module, void **symbol, char *, const char *name, int, size_t,
                              int, int) {
  table<racetrap::Variable>()[symbol] = racetrap::Variable{module, name, symbol};
}

// Called before each use of a managed variable by the program.
char __cudaInitModule(void **module) {
  racetrap::Guard held = racetrap::guard();
  for (auto &[symbol, variable] : table<racetrap::Variable>())
    if (variable.module == module && variable.managed && !variable.found)
      if (racetrap::note(racetrap::look_up(variable)) != cudaSuccess) return 0;
  return 1;
}

// A kernel's handle is the host function that stands for it.
cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *function) {
  *handle = static_cast<cudaKernel_t>(const_cast<void *>(function));
  return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t *handle, const void *function) {
  return __cudaGetKernel(handle, function);
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
  racetrap::FindSymbolReply place{};
  cudaError_t error = racetrap::find_symbol(symbol, place);
  *address = reinterpret_cast<void *>(place.address);
  return racetrap::note(error);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  racetrap::FindSymbolReply place{};
  cudaError_t error = racetrap::find_symbol(symbol, place);
  *bytes = place.bytes;
  return racetrap::note(error);
}

}
