// A Vortex core with ports: its buses are wires inside generate blocks, driven here by their names.

module vortex_core (
    input  wire         clk,
    input  wire         reset,
    output wire         busy,
    // Blocks to run.
    input  wire         block_valid,
    input  wire [395:0] block_data,
    output wire         block_ready,
    // Instruction memory.
    output wire         fetch_valid,
    output wire [29:0]  fetch_address,
    output wire [46:0]  fetch_tag,
    input  wire         fetch_ready,
    input  wire         fetched_valid,
    input  wire [31:0]  fetched_data,
    input  wire [46:0]  fetched_tag,
    output wire         fetched_ready,
    // Data memory.
    output wire         request_valid,
    output wire [232:0] request_data,
    input  wire         request_ready,
    input  wire         response_valid,
    input  wire [127:0] response_data,
    input  wire [46:0]  response_tag,
    output wire         response_ready,
    // What is issued, and warps that begin.
    output wire         issue_valid,
    output wire [514:0] issue_data,
    output wire         start_valid,
    output wire [1:0]   start_warp,
    output wire [1:0]   start_slot,
    output wire [1:0]   start_rank,
    output wire [2:0]   start_count,
    output wire [3:0]   start_lanes,
    output wire [3:0]   active_warps
);
  vortex_core_wrap core (.clk(clk), .reset(reset), .busy(busy));

  assign core.dcr_bus_if.req_valid = 1'b0;
  assign core.dcr_bus_if.req_data = 45'b0;
  assign core.gbar_bus_if.req_ready = 1'b0;
  assign core.gbar_bus_if.rsp_valid = 1'b0;
  assign core.gbar_bus_if.rsp_data = 3'b0;

  assign core.kmu_bus_if.valid = block_valid;
  assign core.kmu_bus_if.data = block_data;
  assign block_ready = core.kmu_bus_if.ready;

  assign fetch_valid = core.icache_bus_if.req_valid;
  assign fetch_address = core.icache_bus_if.req_data[125:96];
  assign fetch_tag = core.icache_bus_if.req_data[46:0];
  assign core.icache_bus_if.req_ready = fetch_ready;
  assign core.icache_bus_if.rsp_valid = fetched_valid;
  assign core.icache_bus_if.rsp_data = {fetched_data, fetched_tag};
  assign fetched_ready = core.icache_bus_if.rsp_ready;

  assign request_valid = core.dcache_bus_if[0].req_valid;
  assign request_data = core.dcache_bus_if[0].req_data;
  assign core.dcache_bus_if[0].req_ready = request_ready;
  assign core.dcache_bus_if[0].rsp_valid = response_valid;
  assign core.dcache_bus_if[0].rsp_data = {response_data, response_tag};
  assign response_ready = core.dcache_bus_if[0].rsp_ready;

  assign issue_valid = core.core.issue.g_slices[0].issue_slice.operands_if.valid
      && core.core.issue.g_slices[0].issue_slice.operands_if.ready;
  assign issue_data = core.core.issue.g_slices[0].issue_slice.operands_if.data;
  assign start_valid = core.core.scheduler.cta_dispatcher.cta_fire;
  assign start_warp = core.core.scheduler.cta_dispatcher.cta_wid;
  assign start_slot = core.core.scheduler.cta_dispatcher.cta_csrs[341:340];
  assign start_rank = core.core.scheduler.cta_dispatcher.cta_csrs[339:338];
  assign start_count = core.core.scheduler.cta_dispatcher.cta_csrs[337:335];
  assign start_lanes = core.core.scheduler.cta_dispatcher.cta_tmask;
  assign active_warps = core.core.scheduler.active_warps;
endmodule
