// SigRace between two cores and an SoC: `racetrap generate sigrace-tiny --set trace_port=false --name sigrace-tiny`.
//
// Shows what every integration does: one clock, a reset made synchronous, the fields of an event
// packed and those of a trap record unpacked in the order of NAME.json (`layouts`), registers
// passed on.  The second core is idle here: its stream is tied to "nothing", its traps are taken.
`default_nettype none

module sigrace_top (
  input  wire clk,
  input  wire rst_n,
  input  wire [3:0] event_op,
  input  wire [31:0] event_data,
  input  wire [4:0] event_size,
  input  wire [11:0] event_index,
  input  wire [11:0] event_instructions,
  input  wire [31:0] event_pc,
  input  wire event_valid,
  output wire event_ready,
  output wire [31:0] trap_address,
  output wire [31:0] trap_pc,
  output wire trap_is_write,
  output wire trap_valid,
  input  wire trap_ready,
  output wire [17:0] timestamp,
  output wire [17:0] trt,
  output wire [1:0] thread,
  output wire [1:0] mode,
  output wire conflicting,
  output wire idle,
  input  wire [11:0] s_axil_awaddr,
  input  wire [2:0] s_axil_awprot,
  input  wire s_axil_awvalid,
  output wire s_axil_awready,
  input  wire [31:0] s_axil_wdata,
  input  wire [3:0] s_axil_wstrb,
  input  wire s_axil_wvalid,
  output wire s_axil_wready,
  output wire [1:0] s_axil_bresp,
  output wire s_axil_bvalid,
  input  wire s_axil_bready,
  input  wire [11:0] s_axil_araddr,
  input  wire [2:0] s_axil_arprot,
  input  wire s_axil_arvalid,
  output wire s_axil_arready,
  output wire [31:0] s_axil_rdata,
  output wire [1:0] s_axil_rresp,
  output wire s_axil_rvalid,
  input  wire s_axil_rready,
  output wire irq
);

  // Asserted at once, released with the clock; the detector's own reset is synchronous.
  reg [1:0] rst_sync;
  always @(posedge clk or negedge rst_n)
    if (!rst_n) rst_sync <= 2'b11;
    else rst_sync <= {rst_sync[0], 1'b0};

  // The last field is the most significant.
  wire [96:0] event_payload = {
    event_pc, event_instructions, event_index, event_size, event_data, event_op
  };

  wire [64:0] trap_payload;
  assign {trap_is_write, trap_pc, trap_address} = trap_payload;

  /* verilator lint_off PINCONNECTEMPTY */
  sigrace_tiny detector (
    .clk(clk),
    .rst(rst_sync[1]),
    .i_event__0__payload(event_payload),
    .i_event__0__valid(event_valid),
    .i_event__0__ready(event_ready),
    .i_event__1__payload(97'b0),
    .i_event__1__valid(1'b0),
    .i_event__1__ready(),
    .o_trap__0__payload(trap_payload),
    .o_trap__0__valid(trap_valid),
    .o_trap__0__ready(trap_ready),
    .o_trap__1__payload(),
    .o_trap__1__valid(),
    .o_trap__1__ready(1'b1),
    .o_timestamp__0(timestamp),
    .o_timestamp__1(),
    .o_trt__0(trt),
    .o_trt__1(),
    .o_thread__0(thread),
    .o_thread__1(),
    .o_mode__0(mode),
    .o_mode__1(),
    .o_conflicting__0(conflicting),
    .o_conflicting__1(),
    .o_idle(idle),
    .s_axil__awaddr(s_axil_awaddr),
    .s_axil__awprot(s_axil_awprot),
    .s_axil__awvalid(s_axil_awvalid),
    .s_axil__awready(s_axil_awready),
    .s_axil__wdata(s_axil_wdata),
    .s_axil__wstrb(s_axil_wstrb),
    .s_axil__wvalid(s_axil_wvalid),
    .s_axil__wready(s_axil_wready),
    .s_axil__bresp(s_axil_bresp),
    .s_axil__bvalid(s_axil_bvalid),
    .s_axil__bready(s_axil_bready),
    .s_axil__araddr(s_axil_araddr),
    .s_axil__arprot(s_axil_arprot),
    .s_axil__arvalid(s_axil_arvalid),
    .s_axil__arready(s_axil_arready),
    .s_axil__rdata(s_axil_rdata),
    .s_axil__rresp(s_axil_rresp),
    .s_axil__rvalid(s_axil_rvalid),
    .s_axil__rready(s_axil_rready),
    .irq(irq)
  );
  /* verilator lint_on PINCONNECTEMPTY */
endmodule

`default_nettype wire
