"""Evaluate a combinational component in Amaranth's simulator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amaranth.hdl import Value
from amaranth.sim import Simulator


def evaluate(dut, cases: Iterable[Mapping[str, int]], output: str) -> list[int]:
    """Value of port ``output``, as an integer, for each case (port name to integer)."""
    results = []

    async def testbench(ctx):
        for case in cases:
            for name, value in case.items():
                ctx.set(Value.cast(getattr(dut, name)), value)
            results.append(ctx.get(Value.cast(getattr(dut, output))))

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()
    return results
