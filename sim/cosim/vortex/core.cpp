// Library of the Verilated core: as many instances as asked for.

#include "Vvortex_core.h"
#include "core_pins.h"

#include <verilated.h>

#include <cstring>
#include <memory>

struct Core {
    VerilatedContext context;
    std::unique_ptr<Vvortex_core> top;
    ~Core() {
        Verilated::threadContextp(&context);
        top.reset();
    }
};

static void* make(uint64_t seed) {
    auto core = new Core;
    core->context.randReset(2);
    core->context.randSeed(int(seed & 0x7FFFFFFF) | 1);
    core->top = std::make_unique<Vvortex_core>(&core->context);
    return core;
}

static void destroy(void* core) { delete static_cast<Core*>(core); }

static void settle(void* handle, CorePins* pins) {
    auto& top = *static_cast<Core*>(handle)->top;
    top.clk = 0;
    top.reset = pins->reset;
    top.block_valid = pins->block_valid;
    if (pins->block_valid) std::memcpy(top.block_data.data(), pins->block_data, 52);
    top.fetch_ready = pins->fetch_ready;
    top.fetched_valid = pins->fetched_valid;
    top.fetched_data = pins->fetched_data;
    top.fetched_tag = pins->fetched_tag;
    top.request_ready = pins->request_ready;
    top.response_valid = pins->response_valid;
    std::memcpy(top.response_data.data(), pins->response_data, 16);
    top.response_tag = pins->response_tag;
    top.eval();
    pins->busy = top.busy;
    pins->block_ready = top.block_ready;
    pins->fetch_valid = top.fetch_valid;
    pins->fetch_address = top.fetch_address;
    pins->fetch_tag = top.fetch_tag;
    pins->fetched_ready = top.fetched_ready;
    pins->request_valid = top.request_valid;
    if (top.request_valid) std::memcpy(pins->request_data, top.request_data.data(), 32);
    pins->response_ready = top.response_ready;
    pins->issue_valid = top.issue_valid;
    if (top.issue_valid) std::memcpy(pins->issue_data, top.issue_data.data(), 68);
    pins->start_valid = top.start_valid;
    pins->start_warp = top.start_warp;
    pins->start_slot = top.start_slot;
    pins->start_rank = top.start_rank;
    pins->start_count = top.start_count;
    pins->start_lanes = top.start_lanes;
    pins->active_warps = top.active_warps;
}

static void clock(void* core) {
    auto& top = *static_cast<Core*>(core)->top;
    top.clk = 1;
    top.eval();
}

extern "C" CoreFunctions core_functions() { return {make, destroy, settle, clock}; }
