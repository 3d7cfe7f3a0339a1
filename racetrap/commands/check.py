"""`racetrap check`: look for races in a trace or a kernel with the golden model alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from racetrap.generators.presets import find_preset, with_settings
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace, read_trace
from racetrap.kernels import capture_kernel, launch_option, run_to_dict
from racetrap.oracle_report import print_truths, truths_to_dict
from racetrap.output import (
    ExitStatus,
    fail,
    input_errors,
    json_option,
    progress,
    report_console,
    set_option,
    write_json,
)
from racetrap.reports import (
    Finding,
    check_geometry,
    find_races,
    finding_to_dict,
    print_findings,
    region_of,
)
from racetrap.sim.evaluation.scord.truth import truths
from racetrap.sim.gpu.capture import is_kernel_file

__all__ = ["command"]


def _result(
    path: str, preset: str, params: ScordParams, trace: Trace, scord: Scord, races: list[Finding]
) -> dict[str, Any]:
    return {
        "trace": path,
        "preset": preset,
        "parameters": asdict(params),
        "events": len(trace),
        "unique": len(scord.unique),
        "counters": scord.counters,
        "races": [finding_to_dict(race) for race in races],
    }


def _trace_of(path: str, launch_file: str | None) -> tuple[Trace, dict[str, Any]]:
    """Trace to be checked, and what JSON says of the run that it was taken from."""
    with input_errors():
        if launch_file is None:
            if is_kernel_file(path):
                raise ValueError(f"Check of a kernel must have --launch FILE, not only {path}")
            return read_trace(path), {}
    captured = capture_kernel(path, launch_file)
    return captured.trace, {"launch": launch_file, "run": run_to_dict(captured)}


@click.command("check")
@click.argument("path", metavar="TRACE|KERNEL")
@launch_option(required=False)
@click.option(
    "--preset", "preset_name", default="scord", show_default=True, help="Detector to check with."
)
@set_option
@click.option("--unique", is_flag=True, help="Print only the first race of each PC and kind.")
@click.option(
    "--oracle", is_flag=True,
    help="Find out, too, which races are really there, and what the detector made of each.",
)  # fmt: skip
@json_option
def command(
    path: str,
    launch_file: str | None,
    preset_name: str,
    settings: tuple[str, ...],
    unique: bool,
    oracle: bool,
    json_file: str | None,
) -> None:
    """Check the trace file TRACE, or a run of KERNEL, for races with the golden model.

    KERNEL is a .cu or .ptx file, run as the launch file says.  Prints every race with its
    address, PC, kind, scope and both accesses.  Exit status: 0 no race, 1 races found, 2 bad
    input.
    """
    with input_errors():
        params = with_settings(find_preset(preset_name).params, settings)
    trace, run = _trace_of(path, launch_file)
    try:
        check_geometry(trace.header.geometry, params)
        region = region_of(trace.header, params)
        scord = Scord(params, region)
        events = progress(trace, "Checking", len(trace))
        findings = find_races(events, params, region, scord, trace.header.locations)
    except ValueError as error:
        fail(f"{path}: {error}")
    console = report_console(json_file)
    firsts = {report.sequence for report in scord.unique.values()}
    shown = [f for f in findings if f.report.sequence in firsts] if unique else findings
    print_findings(console, shown)
    console.print(
        f"Races: {len(findings)} ({len(scord.unique)} of different PC and kind) "
        f"in {len(trace)} events, {scord.counters['accesses']} accesses "
        f"({scord.counters['unmonitored']} outside the monitored region)."
    )
    result = _result(path, preset_name, params, trace, scord, findings) | run
    if oracle:
        found, locations = truths(trace, params), trace.header.locations
        print_truths(console, found, scord.unique, locations)
        result["oracle"] = truths_to_dict(found, scord.unique, locations)
    write_json(json_file, result)
    raise SystemExit(ExitStatus.RACES if findings else ExitStatus.NO_RACE)
