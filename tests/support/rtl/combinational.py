"""Evaluate a combinational component in Amaranth's simulator."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from amaranth.hdl import Value
from amaranth.sim import Simulator

from tests.support.rtl.verilated_block import add_blocks


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

    simulate_combinational(dut, testbench)
    return results


def simulate_combinational(dut: Any, testbench: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """Run a testbench of a component without a clock to its end."""
    simulator = Simulator(dut)
    add_blocks(simulator, dut)
    simulator.add_testbench(testbench)
    simulator.run()
