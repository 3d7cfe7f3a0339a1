// A memory that an area estimate leaves out: its bits are counted, its cells are a macro's.
(* blackbox *)
module memory_box #(
    parameter SIZE = 0, ABITS = 0, WIDTH = 0, RD_PORTS = 0, WR_PORTS = 0
) (
    input [RD_PORTS-1:0] rd_clk, rd_en, rd_arst, rd_srst,
    input [RD_PORTS*ABITS-1:0] rd_addr,
    output [RD_PORTS*WIDTH-1:0] rd_data,
    input [WR_PORTS-1:0] wr_clk,
    input [WR_PORTS*WIDTH-1:0] wr_en, wr_data,
    input [WR_PORTS*ABITS-1:0] wr_addr
);
endmodule
