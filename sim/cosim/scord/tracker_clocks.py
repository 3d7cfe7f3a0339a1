"""Rewriting of the generated Verilog so that a cycle-based simulator skips waiting trackers.

Behaviour is the same in every cycle.  With all SMs on one bank nearly every tracker waits in nearly
every cycle, and its logic, half of the design, would be re-evaluated to the same values.
"""

from __future__ import annotations

import re

_TRACKER = re.compile(r"  \S+ (tracker_\d+) \(\n(?:    \..*\n)*?    \.clk\(clk\)")


def gate_trackers(verilog: str, count: int) -> str:
    """Give each tracker its own clock, which stops while the tracker is quiescent.

    The clock is gated as in a chip: its enable changes on the falling edge, when the tracker's
    ``o_quiescent`` has settled.  A reset is never missed.

    Parameters
    ----------
    verilog : str
        Verilog of the generator.
    count : int
        Number of trackers in it.

    Raises
    ------
    ValueError
        If the number of trackers found differs from ``count``.
    """
    gated, found = _TRACKER.subn(_gate, verilog)
    if found != count:
        raise ValueError(f"Trackers in the Verilog must be {count}, not {found}")
    return gated


def _gate(instance: re.Match[str]) -> str:
    name = instance[1]
    return (
        f"  reg {name}__moves = 1;\n"
        f"  wire {name}__clk = clk & {name}__moves;\n"
        f"  always @(negedge clk) {name}__moves <= rst | ~{name}.o_quiescent;\n"
        f"{instance[0].removesuffix('clk)')}{name}__clk)"
    )
