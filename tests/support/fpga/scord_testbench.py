"""cocotb tests of a board's ScoRD at its UART pins: micro-benchmarks in, race reports out.

Plan: ``benchmarks``, names of the micro-benchmarks; ``core``, whether the device has only a tracker
and a bank.  For each there is a note with its verdict.  Then comes an overload: a host that pulls
no reports, so that some are dropped and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import cocotb

from racetrap.fpga.gpu.run import run_trace
from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.self_test import check_registers
from racetrap.fpga.host.session import Session
from racetrap.fpga.scord.board import ScordBoard, monitored_region
from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.scord.suite import SuiteRun, suite_runs
from racetrap.sim.gpu.suites.micro.program import program_region
from tests.support.fpga.pins import Note, run_host

#: Counters determined by the input; a core has only the last one.
_COUNTERS = ("accesses", "fences", "unmonitored", "reports_dropped")
_OVERLOAD_SEED, _OVERLOAD_EVENTS = 1, 100


def _connect(link: HostLink, plan: dict[str, Any]) -> tuple[ScordParams, Session, Region]:
    """Configuration of the device, a session with it, and the region to monitor."""
    params = ScordParams(**plan["params"])
    session = Session(link, params, "the plan")
    return params, session, monitored_region(session, params, program_region())


def _golden(params: ScordParams, region: Region, events: Iterable[Event]) -> Scord:
    golden = Scord(params, region)
    for event in events:
        golden.run(event)
    return golden


def _runs(params: ScordParams, names: list[str]) -> Iterator[SuiteRun]:
    """One run of each micro-benchmark, placed over several SMs if possible."""
    runs = {run.benchmark.name: run for run in suite_runs(params, 0, 1)}
    return (runs[name] for name in names)


def _play(link: HostLink, plan: dict[str, Any], note: Note) -> set[str]:
    """Play all micro-benchmarks; return the lights that must be on."""
    params, session, region = _connect(link, plan)
    check_registers(session, params)
    is_core, total = plan["core"], 0
    for run in _runs(params, plan["benchmarks"]):
        name, events = run.benchmark.name, list(run.events())
        result, golden = (
            run_trace(ScordBoard(session, params), region, events),
            _golden(params, region, events),
        )
        # A whole system's numbers continue over kernels; a core gives none.
        due = [
            replace(race, sequence=0 if is_core else total + n)
            for n, race in enumerate(golden.races)
        ]
        if list(result.reports) != due:
            raise Mismatch(f"Reports of {name} must be {due}, not {result.reports}")
        for counter in _COUNTERS[-1:] if is_core else _COUNTERS:
            counted, wanted = result.counters[counter], golden.counters.get(counter, 0)
            if counted != wanted:
                raise Mismatch(f"{counter} of {name} must be {wanted}, not {counted}")
        total += len(due)
        is_right = run.benchmark.is_right(result.reports)
        note({"run": name, "is_right": is_right, "reports": len(due)})
    return {"race seen"} if total else set()


def _overload(link: HostLink, plan: dict[str, Any], _: Note) -> set[str]:
    """Check that every report is pulled, in order, or counted as dropped; return the lights
    expected."""
    params, session, region = _connect(link, plan)
    knobs = KNOBS["atomics"]
    events = list(random_events(params, region, knobs, _OVERLOAD_SEED, _OVERLOAD_EVENTS))
    board = ScordBoard(session, params)
    board.launch(region)
    for sm, transaction in transactions_of(events, params):
        session.push(sm, [params.transaction_layout.pack(transaction._asdict())])
    for sm in range(params.sm_count):
        session.drain(sm)
    board.finish()
    seen = [_unnumbered(report) for report in board.reports()]
    due = [_unnumbered(race) for race in _golden(params, region, events).races]
    rest = iter(due)
    if not all(report in rest for report in seen):
        raise Mismatch(f"Reports of an overload must be among {due} in order, not {seen}")
    dropped = board.counters()["reports_dropped"]
    if not 0 < dropped == len(due) - len(seen):
        raise Mismatch(f"Reports dropped must be {len(due)} - {len(seen)}, and some, not {dropped}")
    return {"race seen", "error"} if plan["core"] else {"race seen"}


def _unnumbered(race: RaceReport) -> RaceReport:
    return replace(race, sequence=0)


@cocotb.test()
async def play_at_the_pins(dut: Any) -> None:
    await run_host(dut, _play)


@cocotb.test()
async def overload_the_pins(dut: Any) -> None:
    await run_host(dut, _overload)
