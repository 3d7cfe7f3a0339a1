"""Wrapper module of a generated system for the fast co-simulation.

It puts a register before every input.  A cycle-based simulator re-evaluates all logic that depends
on an input whenever inputs may have changed, and nearly all logic depends on reset; with registers,
inputs change at the clock edge and everything is evaluated once a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Name of the module.
TOP = "fast_top"


def top_module(module: str, ports: Mapping[str, Mapping[str, Any]]) -> str:
    """Verilog of the wrapper of ``module``, with the same ports.

    Parameters
    ----------
    module : str
        Name of the generated system's module; ``clk`` and ``rst`` are among its ports.
    ports : mapping of str to mapping
        Direction (``input`` or ``output``) and width of each of its ports, as in the
        generator's description.
    """
    # Verilator takes no line of tens of thousands of words.
    lines = [f"module {TOP}(", ",\n".join(ports), ");"]
    connections = []
    for name, port in ports.items():
        bits = f"[{port['width'] - 1}:0]"
        lines.append(f"  {port['direction']} wire {bits} {name};")
        signal = name
        if port["direction"] == "input" and name != "clk":
            signal = f"{name}__now"
            # The system is in reset before the first edge, for any inputs.
            lines += [
                f"  reg {bits} {signal} = {int(name == 'rst')};",
                f"  always @(posedge clk) {signal} <= {name};",
            ]
        connections.append(f".{name}({signal})")
    lines += [f"  {module} dut(", ",\n".join(connections), ");", "endmodule", ""]
    return "\n".join(lines)
