"""Traces at the UART pins of a GPU detector's device, each compared with the golden model.

Plan: ``traces``, files by name.  Each has a note with the number of its reports.  Then comes an
overload: a host that pulls no reports, so that some are dropped and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from racetrap.fpga.boards.table import Board
from racetrap.fpga.gpu.board import GpuBoard
from racetrap.fpga.gpu.run import run_trace
from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.self_test import check_registers
from racetrap.fpga.host.session import Session
from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.gpu.model import GpuModel
from racetrap.golden_model.trace import Trace, read_trace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.verdict.gpu.fit import region_with_window
from tests.support.fpga.cosimulation import PinTest, write_traces
from tests.support.fpga.pins import Note

_SEEDS = range(4)


def pin_test_with(random_trace: Callable[[Any, int], Trace]) -> PinTest:
    """Test at the pins by all micro-benchmarks, and by random traces of seeds."""

    def plan(board: Board, params: Any, folder: Path) -> dict[str, Any]:
        traces = {f"random-{seed}": random_trace(params, seed) for seed in _SEEDS}
        return {"traces": write_traces(folder, _benchmarks(params) | traces)}

    def short_plan(board: Board, params: Any, folder: Path) -> dict[str, Any]:
        return {"traces": write_traces(folder, {"random-0": random_trace(params, 0)})}

    return PinTest(
        plan, short_plan, lambda plan: len(plan["traces"]), "traces equal to the golden model"
    )


def _benchmarks(params: Any) -> dict[str, Trace]:
    """Each micro-benchmark, placed over several SMs if possible."""
    region = program_region()
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm),
        region=DataRegion(region.data_base, region.size_log2),
        independent_threads=1,
    )
    return {
        run.benchmark.name: Trace.from_events(header, run.events())
        for run in suite_runs(params, 0, 1)
    }


class GpuPins:
    """A host that plays traces on a detector.

    Parameters
    ----------
    params, board, golden : type
        The detector's parameters, board and golden model.
    """

    def __init__(self, params: Any, board: type[GpuBoard], golden: type[GpuModel]) -> None:
        self._params, self._board, self._golden = params, board, golden

    def play(self, link: HostLink, plan: dict[str, Any], note: Note) -> set[str]:
        """Play all traces; return the lights that must be on."""
        params, session = self._connect(link, plan)
        check_registers(session, params)
        total = 0
        for name, file in plan["traces"].items():
            trace = read_trace(file)
            assert isinstance(trace, Trace)
            region = region_with_window(trace, params)
            golden = self._golden(params, region)
            for event in trace:
                golden.run(event)
            run = run_trace(self._board(session, params), region, trace)
            # Numbers continue over kernels.
            due = [replace(race, sequence=total + n) for n, race in enumerate(golden.races)]
            if list(run.reports) != due:
                raise Mismatch(f"Reports of {name} must be {due}, not {run.reports}")
            for counter, wanted in golden.counters.items():
                if run.counters[counter] != wanted:
                    raise Mismatch(
                        f"{counter} of {name} must be {wanted}, not {run.counters[counter]}"
                    )
            total += len(due)
            note({"run": name, "reports": len(due)})
        return {"race seen"} if total else set()

    def overload(self, link: HostLink, plan: dict[str, Any], note: Note) -> set[str]:
        """Check that every report of the last trace is pulled, in order, or counted as dropped."""
        params, session = self._connect(link, plan)
        trace = read_trace(list(plan["traces"].values())[-1])
        assert isinstance(trace, Trace)
        region = region_with_window(trace, params)
        golden = self._golden(params, region)
        board = self._board(session, params)
        board.launch(region)
        for event in trace:
            golden.run(event)
            for transaction in self._board.split(event, params):
                record = params.transaction_layout.pack(transaction._asdict())
                session.push(event.sm, [record])
                session.drain(event.sm)
        board.finish()
        due = [replace(race, sequence=0) for race in golden.races]
        seen = [replace(report, sequence=0) for report in board.reports()]
        rest = iter(due)
        if not all(report in rest for report in seen):
            raise Mismatch(f"Reports of an overload must be among {due} in order, not {seen}")
        dropped = board.counters()["reports_dropped"]
        if not 0 < dropped == len(due) - len(seen):
            raise Mismatch(
                f"Reports dropped must be {len(due)} - {len(seen)}, and some, not {dropped}"
            )
        return {"race seen"}

    def _connect(self, link: HostLink, plan: dict[str, Any]) -> tuple[Any, Session]:
        params = self._params(**plan["params"])
        return params, Session(link, params, "the plan")
