"""Comparison of the state that stays: ports of the core units, CoreToThread, status."""

from __future__ import annotations

from typing import Any

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.tb.register_agent import SoftwareThread
from racetrap.tb.sigrace.scoreboard import ScoreboardComponent
from racetrap.tb.testbench import Testbench


async def check_state(
    testbench: Testbench,
    scoreboard: ScoreboardComponent,
    software: SoftwareThread,
    status: dict[str, int],
) -> None:
    """Compare an idle system's registers and ports with the golden model.

    Parameters
    ----------
    testbench : Testbench
        Shared context.
    scoreboard : ScoreboardComponent
        Holder of the golden model.
    software : SoftwareThread
        Way to the registers.
    status : dict of str to int
        ``STATUS``, as read.

    Raises
    ------
    Mismatch
        At the first difference.
    """
    rdm = scoreboard.comparison.rdm
    _demand("STATUS.idle", status["idle"], 1)
    gaps = int(rdm.counters["dropped_sequence"] > 0)
    _demand("STATUS.sequence_gap", status["sequence_gap"], gaps)
    is_saturated = any(unit.saturated for unit in scoreboard.units.values())
    _demand("STATUS.saturated", status["saturated"], int(is_saturated))
    for (core, context), unit in scoreboard.units.items():
        number = core * testbench.params.contexts + context
        for port, value in _ports(testbench, unit).items():
            name = f"{port}__{number}"
            _demand(name, testbench.pins.reader(name)(), value)
        _, expected = await software.mapping(core, context)
        _demand(f"MAP_SEQUENCE of {core, context}", expected, rdm.expected[core, context])


def _ports(testbench: Testbench, unit: CoreUnit) -> dict[str, int]:
    """What the ports of a core unit must show."""
    bits = testbench.params.timestamp_bits

    def packed(counters: list[int]) -> int:
        return sum(counter << index * bits for index, counter in enumerate(counters))

    return {
        "o_timestamp": packed(unit.timestamp),
        "o_trt": packed(unit.trt),
        "o_thread": unit.thread,
        "o_mode": unit.mode,
        "o_conflicting": int(unit.is_conflicting),
    }


def _demand(what: str, seen: Any, expected: Any) -> None:
    if seen != expected:
        raise Mismatch(f"{what} must be {expected:#x}, not {seen:#x}")
