// Shim of a Verilated detector of a GPU.

#include "gpu_testbench.h"

extern "C" Testbench* sim_new(uint64_t seed) { return new Sim(seed); }
