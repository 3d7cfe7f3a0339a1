"""Coverage of port events: stalls and transfers in consecutive cycles."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.tb.testbench import Testbench


def watch_streams(
    testbench: Testbench, coverage: BinCounts, name: str, ports: Sequence[str], *, stalls_only=False
) -> None:
    """Count stalls, and transfers in consecutive cycles, of some streams from now on.

    Parameters
    ----------
    testbench : Testbench
        Shared context.
    coverage : BinCounts
        Counts ``<name>.stalled`` and, unless ``stalls_only``, ``<name>.back_to_back``.
    name : str
        Prefix of the bins' names.
    ports : sequence of str
        Prefixes of the streams' ports in Verilog, all before ``valid``.
    """
    pins = testbench.pins
    streams = [(pins.flag(f"{port}valid"), pins.flag(f"{port}ready")) for port in ports]
    every_valid = sum(valid for valid, _ in streams)
    before = 0

    def look(flags: int) -> None:
        nonlocal before
        if not flags & every_valid:
            before = 0
            return
        taken = 0
        for valid, ready in streams:
            if flags & valid:
                if flags & ready:
                    taken |= valid
                else:
                    coverage.hit(f"{name}.stalled")
        if taken & before and not stalls_only:
            coverage.hit(f"{name}.back_to_back")
        before = taken

    testbench.clocking.each(look)
