"""`racetrap fpga run`: a trace on a board, compared with the golden model."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from rich.console import Console

from racetrap.fpga.boards.identity import identify
from racetrap.fpga.host.client import HostLink, LinkError
from racetrap.fpga.host.program import ProgramRun, run_program
from racetrap.fpga.host.scord import BoardRun, check_reports, run_trace
from racetrap.fpga.host.scord_board import monitored_region
from racetrap.fpga.host.session import Session
from racetrap.generators.system import Params
from racetrap.golden_model.link.frames import Counters, Kind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.playback import Environment
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    progress,
    progress_to,
    report_console,
    write_json,
)
from racetrap.presenters.scord_races import (
    Finding,
    check_geometry,
    find_races,
    finding_to_dict,
    print_findings,
    region_of,
)
from racetrap.presenters.sigrace_races import (
    by_static_race,
    print_statistics,
    print_thread_races,
    statistics_to_dict,
    thread_race_to_dict,
)
from racetrap.sim.cosim.comparison.mismatch import Mismatch

__all__ = ["run_on_board"]

#: Where the device's counters stop.
_STOPPED = 0xFFFF


@dataclass(frozen=True)
class _Line:
    """Both ends' counters of a line at one moment."""

    host: dict[str, int]
    device: dict[str, int]

    @classmethod
    def read(cls, link: HostLink) -> _Line:
        device = Counters.from_payload(link.request(Kind.COUNTERS))
        return cls(asdict(link.counts), device._asdict())

    def since(self, before: _Line) -> dict[str, dict[str, int]]:
        """What both ends counted since then; a counter that has stopped stays what it is."""
        return {
            "host": {name: count - before.host[name] for name, count in self.host.items()},
            "device": {
                name: count if count == _STOPPED else count - before.device[name]
                for name, count in self.device.items()
            },
        }


@dataclass(frozen=True)
class _GpuRun:
    """A GPU's trace on a ScoRD board."""

    trace: Trace
    findings: list[Finding]
    run: BoardRun

    @property
    def has_races(self) -> bool:
        return bool(self.findings)

    def print(self, console: Console, where: str) -> None:
        findings, run = self.findings, self.run
        print_findings(console, findings)
        dropped = run.counters["reports_dropped"]
        lost = (
            f", {dropped} of them without a report for lack of room on the board" if dropped else ""
        )
        console.print(
            f"Races: {len(findings)} in {len(self.trace)} events{lost}; {where} and golden model "
            f"agree in all {len(run.reports)} reports ({run.transactions} transactions, "
            f"{run.seconds:.1f} s).",
            markup=False,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "transactions": self.run.transactions, "seconds": self.run.seconds,
            "reports": len(self.run.reports), "counters": self.run.counters,
            "races": [finding_to_dict(finding) for finding in self.findings],
        }  # fmt: skip


@dataclass(frozen=True)
class _ThreadRun:
    """A trace of a program with threads on a SigRace board."""

    trace: ThreadTrace
    environment: str
    run: ProgramRun

    @property
    def has_races(self) -> bool:
        return bool(self.run.result.races)

    def print(self, console: Console, where: str) -> None:
        run, races = self.run, self.run.result.races
        print_thread_races(console, races, self.trace.header.locations)
        print_statistics(console, run.result)
        console.print(
            f"Races: {len(by_static_race(races))} static, {len(races)} dynamic in "
            f"{len(self.trace)} events; {where} and golden model agree in all {len(run.log)} "
            f"records of conflicts and {len(run.traps)} of traps ({run.events} events of "
            f"contexts, {run.messages} messages, {run.seconds:.1f} s).",
            markup=False,
        )

    def to_dict(self) -> dict[str, Any]:
        run, races = self.run, self.run.result.races
        return {
            "environment": self.environment, "core_events": run.events,
            "messages": run.messages, "analysed_events": run.analysed, "seconds": run.seconds,
            "conflict_records": len(run.log), "trap_records": len(run.traps),
            "conflicts": run.result.conflicts, "false_positives": run.result.false_positives,
            "static": len(by_static_race(races)), "dynamic": len(races),
            "statistics": statistics_to_dict(run.result.statistics), "counters": run.counters,
            "races": [thread_race_to_dict(race, self.trace.header.locations) for race in races],
        }  # fmt: skip


def run_on_board(
    path: str, trace: Trace | ThreadTrace, port: str, baud: int, timeout_s: float,
    wanted: tuple[str, Params] | None, environment: str, json_file: str | None,
) -> NoReturn:  # fmt: skip
    """Stream a trace to the board on a port, print its races and leave.

    Exit status 0 if there is none, 1 if there are, 2 if the trace does not fit the
    configuration, 3 if the link fails or board and golden model disagree.
    """
    played: _GpuRun | _ThreadRun
    try:
        with HostLink(port, baud, timeout_s) as link:
            hello = link.hello()
            before = _Line.read(link)
            name, params = wanted or identify(hello)
            if isinstance(trace, Trace) and isinstance(params, ScordParams):
                played = _run_gpu(path, trace, params, link, name)
            elif isinstance(trace, ThreadTrace) and isinstance(params, SigraceParams):
                played = _run_threads(path, trace, params, link, name, environment)
            else:
                system = trace.header.system
                fail(f"Configuration must be one of {system} for this trace, not {name}")
            line = _Line.read(link).since(before)
    except (LinkError, Mismatch) as error:
        fail(error, ExitStatus.FAILED)
    played.print(report_console(json_file), f"{name} on {port}")
    write_json(json_file, {
        "trace": path, "configuration": name, "parameters": asdict(params), "port": port,
        "events": len(trace), **played.to_dict(), "line": line,
    })  # fmt: skip
    sys.exit(ExitStatus.RACES if played.has_races else ExitStatus.NO_RACE)


def _run_gpu(path: str, trace: Trace, params: ScordParams, link: HostLink, name: str) -> _GpuRun:
    session = Session(link, params, name)
    try:
        check_geometry(trace.header.geometry, params)
        region = monitored_region(session, params, region_of(trace.header, params))
        findings = find_races(trace, params, region, locations=trace.header.locations)
    except ValueError as error:
        fail(f"{path}: {error}")
    run = run_trace(session, params, region, progress(trace, "Streaming", len(trace)))
    if difference := check_reports(params, (finding.report for finding in findings), run):
        raise Mismatch(difference)
    return _GpuRun(trace, findings, run)


def _run_threads(
    path: str, trace: ThreadTrace, params: SigraceParams, link: HostLink, name: str,
    environment: str,
) -> _ThreadRun:  # fmt: skip
    session = Session(link, params, name)
    sigrace = Sigrace(params, Environment(environment))
    try:
        with progress_to("Streaming", len(trace)) as reached:
            return _ThreadRun(trace, environment, run_program(session, sigrace, trace, reached))
    except ValueError as error:
        fail(f"{path}: {error}")
