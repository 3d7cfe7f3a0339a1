"""Registers folded in the Verilog: its text."""

import pytest

from racetrap.sim.cosim.fast.folding import fold_registers

_COUNTER = r"""module counter(clk, go, \total$3 );
  reg [3:0] \$1 ;
  reg [3:0] \total$3 ;
  always @(posedge clk)
    \total$3  <= \$1 ;
  always @* begin
    if (\$auto$7 ) begin end
    \$1  = \total$3 ;
    if (go) begin
      \$1 [1:0] = \total$3 [1:0] + 1;
    end
  end
endmodule
"""
_FOLDED = r"""module counter(clk, go, \total$3 );
  reg [3:0] \$1 ;
  reg [3:0] \total$3 ;
  always @(posedge clk) begin
    if (go) begin
      \total$3 [1:0] <= \total$3 [1:0] + 1;
    end
  end
endmodule
"""


def test_register_is_folded_in_each_module():
    assert fold_registers(_COUNTER + _COUNTER) == _FOLDED + _FOLDED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("endmodule", "  assign o = \\$1 [0];\nendmodule"),
        ("    if (go) begin\n", "    if (go) begin\n      \\$2  = 1;\n"),
        ("    if (go) begin\n", "    if (\\$1 [3]) begin\n"),
        ("\\$1  = \\total$3 ;", "\\$1  = \\other ;"),
        ("  always @(posedge clk)", "  always @(posedge fast)"),
    ],
    ids=["read outside", "second target", "read inside", "no register's default", "other clock"],
)
def test_anything_else_stays(old, new):
    verilog = _COUNTER.replace(old, new)
    assert verilog != _COUNTER
    assert fold_registers(verilog) == verilog
