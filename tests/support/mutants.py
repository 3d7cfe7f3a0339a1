"""A small design with two blocks, one of them twice, and its mutants."""

from __future__ import annotations

from pathlib import Path

from racetrap.sim.cosim.verilator.build_cache import BACK_DOORS
from racetrap.sim.cosim.verilator.mutants import MutantDraw, make_mutants

#: Bit `b` of `small_logic` is covered by `a`; `high` of `small_counter` is never 1, and
#: its input `spare` is not used.
_VERILOG = """
module small(clk, rst, a, b, o);
  input clk, rst, a, b;
  output [2:0] o;
  wire covered;
  small_logic logic (.a(a), .b(b), .o(covered));
  small_counter counter (.clk(clk), .rst(rst), .i(covered), .spare(b), .o(o));
endmodule

module small_logic(a, b, o);
  input a, b;
  output o;
  assign o = a & (a | b);
endmodule

module small_counter(clk, rst, i, spare, o);
  input clk, rst, i, spare;
  output [2:0] o;
  reg [1:0] count = 0;
  reg high = 0;
  always @(posedge clk) begin
    if (rst) count <= 0;
    else if (i) count <= count + 1;
    high <= high & i;
  end
  assign o = {high & i, count};
endmodule
"""


def make_small(folder: Path, draw: MutantDraw) -> int:
    """Write design and mutants; gives the selector's bits."""
    (folder / "small.v").write_text(_VERILOG.lstrip(), encoding="utf-8")
    (folder / BACK_DOORS).write_text('`verilator_config\npublic_flat_rw -module "a" -var "b"\n')
    return make_mutants("small", folder, draw)
