"""`racetrap fpga run`: a GPU's trace on a board, compared with the golden model."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import NoReturn

from racetrap.fpga.host.client import HostLink, LinkError
from racetrap.fpga.host.identity import identify
from racetrap.fpga.host.scord import BoardRun, check_reports, run_trace
from racetrap.fpga.host.scord_board import monitored_region
from racetrap.fpga.host.session import Session
from racetrap.generators.system import Params
from racetrap.golden_model.link.frames import Counters, Kind
from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.output import ExitStatus, fail, progress, report_console, write_json
from racetrap.reports import (
    Finding,
    check_geometry,
    find_races,
    finding_to_dict,
    print_findings,
    region_of,
)

__all__ = ["run_on_board"]


def run_on_board(
    path: str, trace: Trace, port: str, baud: int, timeout_s: float,
    wanted: tuple[str, Params] | None, json_file: str | None,
) -> NoReturn:  # fmt: skip
    """Stream a trace to the board on a port, print its races and leave.

    Exit status 0 if there is none, 1 if there are, 2 if the trace does not fit the
    configuration, 3 if the link fails or board and golden model disagree.
    """
    try:
        with HostLink(port, baud, timeout_s) as link:
            name, params = wanted or identify(link.hello())
            if not isinstance(params, ScordParams):
                fail(f"Configuration must be one of scord for this trace, not {name}")
            session = Session(link, params, name)
            region, findings = _findings(path, trace, params, session)
            events = progress(trace, "Streaming", len(trace))
            run = run_trace(session, params, region, events)
            device = Counters.from_payload(link.request(Kind.COUNTERS))
    except LinkError as error:
        fail(error, ExitStatus.FAILED)
    if difference := check_reports(params, (finding.report for finding in findings), run):
        fail(difference, ExitStatus.FAILED)
    console = report_console(json_file)
    print_findings(console, findings)
    console.print(_summary(name, port, trace, findings, run), markup=False)
    write_json(json_file, {
        "trace": path, "configuration": name, "parameters": asdict(params), "port": port,
        "events": len(trace), "transactions": run.transactions, "seconds": run.seconds,
        "reports": len(run.reports), "counters": run.counters,
        "line": {"host": asdict(link.counts), "device": device._asdict()},
        "races": [finding_to_dict(finding) for finding in findings],
    })  # fmt: skip
    sys.exit(ExitStatus.RACES if findings else ExitStatus.NO_RACE)


def _findings(
    path: str, trace: Trace, params: ScordParams, session: Session
) -> tuple[Region, list[Finding]]:
    """What the board monitors, and the races there by the golden model; bad input ends the
    command."""
    try:
        check_geometry(trace.header.geometry, params)
        region = monitored_region(session, params, region_of(trace.header, params))
        return region, find_races(trace, params, region, locations=trace.header.locations)
    except ValueError as error:
        fail(f"{path}: {error}")


def _summary(name: str, port: str, trace: Trace, findings: list[Finding], run: BoardRun) -> str:
    dropped = run.counters["reports_dropped"]
    lost = f", {dropped} of them without a report for lack of room on the board" if dropped else ""
    return (
        f"Races: {len(findings)} in {len(trace)} events{lost}; {name} on {port} and golden model "
        f"agree in all {len(run.reports)} reports ({run.transactions} transactions, "
        f"{run.seconds:.1f} s)."
    )
