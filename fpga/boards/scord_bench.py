"""cocotb test of a board's ScoRD at its UART pins: micro-benchmarks in, race reports out.

Plan: ``benchmarks``, names of the micro-benchmarks; ``core``, whether the device has no more
than a tracker and a bank.  For each there is a note with its verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cocotb

from racetrap.fpga.boards.core_top import core_region
from racetrap.fpga.boards.pins import Note, run_host
from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.scord import check_reports, run_trace
from racetrap.fpga.host.session import Session, wait_until
from racetrap.golden_model.events import Event
from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.gpu.program import program_region
from racetrap.sim.gpu.random_events import transactions_of
from racetrap.sim.mismatch import Mismatch
from racetrap.sim.scord.suite import SuiteRun, suite_runs

__all__ = ["play_at_the_pins"]

_REPORTS = 0  # the output channel
_ENABLE, _LAUNCH = 1 << 0, 1 << 8
_BUSY, _IDLE = 1 << 0, 1 << 1


class _System:
    """A whole system, as the host plays a trace there; reports are numbered over the kernels."""

    def __init__(self, session: Session, params: ScordParams):
        self.session, self.params = session, params
        self._head = 0

    @property
    def region(self) -> Region:
        return program_region()

    def play(self, events: list[Event], golden: list[RaceReport]) -> list[int]:
        """Records of a kernel's reports; nothing may be dropped."""
        run = run_trace(self.session, self.params, self.region, events)
        if difference := check_reports(self.params, golden, run):
            raise Mismatch(difference)
        return [report.record() for report in run.reports]

    def numbered(self, races: list[RaceReport]) -> list[int]:
        """Records that must come for a kernel's races."""
        first, self._head = self._head, self._head + len(races)
        return [replace(race, sequence=first + n).record() for n, race in enumerate(races)]


class _Core(_System):
    """A core as software sees it: the region is fixed, reports carry no number."""

    @property
    def region(self) -> Region:
        return core_region(self.params)

    def play(self, events: list[Event], golden: list[RaceReport]) -> list[int]:
        """One transaction at a time: the bank's queue is all there is for its reports."""
        session, layout = self.session, self.params.transaction_layout
        session.write("CONTROL", _ENABLE | _LAUNCH)
        wait_until(lambda: not session.read("STATUS") & _BUSY, "finish the launch")
        records: list[int] = []

        def is_idle() -> bool:
            records.extend(session.pull(_REPORTS))
            return bool(session.read("STATUS") & _IDLE)

        for sm, transaction in transactions_of(events, self.params):
            session.push(sm, [layout.pack(transaction._asdict())])
            records += session.pull(_REPORTS)
        wait_until(is_idle, "finish what it has taken")
        return records

    def numbered(self, races: list[RaceReport]) -> list[int]:
        return [replace(race, sequence=0).record() for race in races]


def _play(device: _System, run: SuiteRun) -> dict[str, Any]:
    """One micro-benchmark; gives the note on it."""
    golden = Scord(device.params, device.region)
    events = list(run.events())
    for event in events:
        golden.run(event)
    records = device.play(events, golden.races)
    expected = device.numbered(golden.races)
    if records != expected:
        raise Mismatch(f"Records of {run.benchmark.name} must be {expected}, not {records}")
    is_right = run.benchmark.is_right([RaceReport.from_record(record) for record in records])
    return {"run": run.benchmark.name, "is_right": is_right, "reports": len(records)}


def _runs(params: ScordParams, names: list[str]) -> Iterator[SuiteRun]:
    """One run of each micro-benchmark; placements over several SMs where there is one."""
    runs = {run.benchmark.name: run for run in suite_runs(params, 0, 1)}
    return (runs[name] for name in names)


def _play_all(link: HostLink, plan: dict[str, Any], note: Note) -> bool:
    """Play all micro-benchmarks; gives whether there was a report."""
    params, reports = ScordParams(**plan["params"]), 0
    device = (_Core if plan["core"] else _System)(Session(link, params, "the plan"), params)
    for run in _runs(params, plan["benchmarks"]):
        verdict = _play(device, run)
        reports += verdict["reports"]
        note(verdict)
    return reports > 0


@cocotb.test()
async def play_at_the_pins(dut: Any) -> None:
    await run_host(dut, _play_all)
