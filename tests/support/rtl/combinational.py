"""Evaluate a combinational component in Amaranth's simulator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from amaranth.hdl import Value
from amaranth.sim import Simulator


def evaluate(dut, cases: Iterable[Mapping[str, int]], output: str) -> list[int]:
    """Value of port ``output``, as an integer, for each case (port name to integer)."""
    return [value for (value,) in evaluate_all(dut, cases, (output,))]


def evaluate_all(
    dut, cases: Iterable[Mapping[str, int]], outputs: Sequence[str]
) -> list[tuple[int, ...]]:
    """Values of some ports for each case, likewise."""
    results = []

    async def testbench(ctx):
        for case in cases:
            for name, value in case.items():
                ctx.set(Value.cast(getattr(dut, name)), value)
            results.append(tuple(ctx.get(Value.cast(getattr(dut, each))) for each in outputs))

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()
    return results
