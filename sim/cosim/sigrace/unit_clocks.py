"""Rewriting of the generated Verilog so that a cycle-based simulator skips waiting core units.

Behaviour is the same in every cycle.  While the RDM searches its queues nearly every core unit
waits for its link, and its logic, most of the design, would be re-evaluated to the same values.
"""

from __future__ import annotations

import re

from racetrap.sim.cosim.fast.ports import Instances, Internals

_INSTANCE = re.compile(r"  (\S+_core_unit) core_unit_(\d+) \(\n((?:    .*\n)*?)  \);\n")
_CONNECTION = re.compile(r"    \.(\S+?)\((.*)\),?\n")
_INPUT = re.compile(r"^  input (?:\[(\d+):0\] )?(\S+?) ?;", flags=re.MULTILINE)
_CLOCK = "clk"
_GATE = """
module fast_gate #(parameter WIDTH = 1) (input clk, input [WIDTH-1:0] inputs, output gated);
  reg moves /*verilator public_flat_rw*/ = 1;
  reg [WIDTH-1:0] last = 0;
  wire same /*verilator public_flat_rd*/ = inputs == last;
  always @(posedge clk) last <= inputs;
  assign gated = clk & moves;
endmodule
"""


def gate_units(verilog: str, count: int) -> str:
    """Give each core unit a clock of its own, which the shim (``unit_clocks.h``) may stop.

    A unit remains a separate module, with all its registers.  Beside it, ``same`` is high if its
    inputs have not changed since the last clock edge, and ``moves`` enables the next edge.

    Parameters
    ----------
    verilog : str
        Verilog of the generator.
    count : int
        Number of core units in it.

    Raises
    ------
    ValueError
        If the number of core units found differs from ``count``.
    """
    units = {match[1] for match in _INSTANCE.finditer(verilog)}
    found = len(_INSTANCE.findall(verilog))
    if found != count or len(units) != 1:
        raise ValueError(f"Core units in the Verilog must be {count}, not {found}")
    (unit,) = units
    module = re.search(rf"^module {unit}\(.*?^endmodule$", verilog, re.MULTILINE | re.DOTALL)
    if module is None:
        raise ValueError(f"Module {unit} must be in the Verilog")
    widths = {name: int(high or 0) + 1 for high, name in _INPUT.findall(module[0])}
    del widths[_CLOCK]
    gated = _INSTANCE.sub(lambda instance: _gate(instance, widths), verilog)
    for name, pragma in ((unit, "no_inline_module"), (rf"{unit}_\S+", "inline_module")):
        declaration = re.compile(rf"^module {name}\(.*?\);\n", re.MULTILINE | re.DOTALL)
        gated = declaration.sub(rf"\g<0>  /*verilator {pragma}*/\n", gated)
    return gated + _GATE


def _gate(instance: re.Match[str], widths: dict[str, int]) -> str:
    connected = dict(_CONNECTION.findall(instance[3]))
    inputs = ", ".join(connected[name] for name in widths)
    number, clock = instance[2], f".{_CLOCK}({_CLOCK})"
    return (
        f"  wire gated_{number};\n"
        f"  fast_gate #(.WIDTH({sum(widths.values())})) gate_{number} "
        f"({clock}, .inputs({{{inputs}}}), .gated(gated_{number}));\n"
        f"{instance[0].replace(clock, f'.{_CLOCK}(gated_{number})')}"
    )


def unit_gates(count: int) -> Internals:
    """Registers that the shim reads and sets beside each core unit."""
    registers = {"moves": ("moves", 1), "same": ("same", 1)}
    return Internals("Gate", "gate", "gate_{}", registers, count)


def unit_memories(count: int) -> Instances:
    """The core units with all their registers."""
    return Instances("core_unit", "core_unit_{}", count)
