"""HiRace in the commands that run hardware."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.commands.shared.detectors.gpu_trace import simulate, stream
from racetrap.commands.shared.settings import PlainRun
from racetrap.commands.shared.simulation import Simulation, Suite
from racetrap.commands.shared.terminal import input_errors
from racetrap.golden_model.trace import Trace
from racetrap.presenters.race_choice import RaceChoice
from racetrap.verdict.gpu.fit import check_fit_with_window, region_with_window
from racetrap.verdict.hirace.findings import find_races

if TYPE_CHECKING:
    from racetrap.fpga.host.session import Session

#: Options and forms of `simulate` that apply to a trace, but not to every stimulus.
TRACE_OPTIONS = ("choice", "all_signals", "output", ".fst", ".vcd")
RUN = PlainRun()
SUITES: Mapping[str, Suite] = MappingProxyType({})


def simulate_trace(call: Simulation, path: str, trace: Trace) -> tuple[int, dict[str, Any]]:
    """Play a trace and print its races; return their number and the JSON document."""
    from racetrap.verdict.hirace.hardware import simulate_trace

    with input_errors(path):
        check_fit_with_window(trace, call.params)
    return simulate(call, path, trace, region_with_window(trace, call.params), simulate_trace)


def stream_trace(
    session: Session, params: Any, trace: Trace, settings: PlainRun, choice: RaceChoice,
    where: str, console: Console,
) -> tuple[int, dict[str, Any]]:  # fmt: skip
    """Stream a trace to a board, compare and print the races; return their number and the JSON."""
    from racetrap.fpga.hirace.board import HiraceBoard

    golden = find_races(trace, params)
    board, region = HiraceBoard(session, params), region_with_window(trace, params)
    return stream(board, trace, region, golden, choice, where, console)
