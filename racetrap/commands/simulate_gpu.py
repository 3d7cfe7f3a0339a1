"""`racetrap simulate` of a ScoRD preset: a trace, or the micro-benchmarks, on the testbench."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from racetrap.commands.testbench_run import bench_failure, fail_with_rerun, run_bench, say_waves
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    input_errors,
    print_table,
    report_console,
    write_json,
)
from racetrap.presenters.scord_races import (
    check_geometry,
    find_races,
    finding_to_dict,
    print_findings,
    region_of,
)
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.cosim.scord.verdicts import gather, write_junit
from racetrap.sim.gpu.suites.micro.program import program_region

__all__ = ["run_gpu_trace", "run_micro_benchmarks"]

_TESTS = "racetrap.tb.scord.play_tests"
#: The suite's table has names worth reading: it is not squeezed into a narrow terminal.
_TABLE_WIDTH = 150


def run_micro_benchmarks(
    preset: str, params: ScordParams, schedules: int, seed: int, waves: bool,
    json_file: str | None, junit_file: str | None,
) -> NoReturn:  # fmt: skip
    """Run every micro-benchmark, print the verdicts and leave.

    Exit status 0 if every verdict is as expected, 2 if the preset is too small for them, 3 if
    hardware and golden model disagree, a verdict is wrong or a tool fails.
    """
    with input_errors():
        program_region().check(params)
        list(suite_runs(params, schedules, seed))
    result = run_bench(preset, params, _TESTS, "play_suite", {"schedules": schedules}, seed, waves)
    verdicts, failure = gather(result.notes), bench_failure(result)
    console = report_console(json_file)
    console.width = max(console.width, _TABLE_WIDTH)
    rows = [
        (
            verdict.name, verdict.expected, verdict.golden, verdict.rtl,
            ", ".join(sorted(verdict.kinds)), ", ".join(sorted(verdict.scopes)),
            max(verdict.cycles), verdict.schedules,
        )
        for verdict in verdicts
    ]  # fmt: skip
    columns = [
        "micro-benchmark", "expected", "golden", "RTL", "kinds", "scope", "cycles", "schedules",
    ]  # fmt: skip
    print_table(console, f"ScoR micro-benchmarks on {preset}, seed {seed}", columns, rows)
    right = sum(verdict.is_right for verdict in verdicts)
    console.print(f"Right in every schedule: {right} of {len(verdicts)} micro-benchmarks.")
    say_waves(console, result, waves)
    write_json(json_file, {
        "preset": preset, "parameters": asdict(params), "seed": seed, "failure": failure,
        "benchmarks": [verdict.to_json() for verdict in verdicts],
    })  # fmt: skip
    if junit_file is not None:
        with input_errors():
            write_junit(Path(junit_file), f"scor-micro.{preset}", verdicts, failure)
    if failure is not None:
        fail_with_rerun(failure, result, seed)
    if right != len(verdicts) or not verdicts:
        fail_with_rerun("Every verdict must be as expected", result, seed)
    sys.exit(ExitStatus.NO_RACE)


def run_gpu_trace(
    preset: str, params: ScordParams, path: str, trace: Trace, seed: int, waves: bool,
    json_file: str | None,
) -> NoReturn:  # fmt: skip
    """Play a trace, print its races and leave.

    Exit status 0 if there is none, 1 if there are, 2 if the trace does not fit the preset, 3 if
    hardware and golden model disagree or a tool fails.
    """
    try:
        check_geometry(trace.header.geometry, params)
        region = region_of(trace.header, params)
        findings = find_races(trace, params, region, Scord(params, region), trace.header.locations)
    except ValueError as error:
        fail(f"{path}: {error}")
    plan = {"trace": str(Path(path).resolve()), "region": asdict(region)}
    result = run_bench(preset, params, _TESTS, "play_trace", plan, seed, waves)
    if failure := bench_failure(result):
        fail_with_rerun(failure, result, seed)
    kernels = [note for note in result.notes if "kernel" in note]
    races = sum(len(note["rtl"]) for note in kernels)
    steps, cycles = (sum(note[name] for note in kernels) for name in ("steps", "cycles"))
    if races != len(findings):
        message = f"Races of the hardware must number {len(findings)}, not {races}"
        fail_with_rerun(message, result, seed)
    console = report_console(json_file)
    print_findings(console, findings)
    console.print(
        f"Races: {races} in {len(trace)} events; hardware and golden model agree in all "
        f"{steps} steps ({cycles} cycles)."
    )
    say_waves(console, result, waves)
    write_json(json_file, {
        "trace": path, "preset": preset, "parameters": asdict(params), "seed": seed,
        "events": len(trace), "steps": steps, "cycles": cycles,
        "races": [finding_to_dict(finding) for finding in findings],
    })  # fmt: skip
    sys.exit(ExitStatus.RACES if races else ExitStatus.NO_RACE)
