"""ScoRD in the commands that run hardware: `simulate` and `fpga run`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.commands.shared.detectors.gpu_trace import simulate, stream
from racetrap.commands.shared.settings import PlainRun
from racetrap.commands.shared.simulation import Simulation, Suite, SuiteOutcome
from racetrap.commands.shared.terminal import input_errors, write_file
from racetrap.commands.shared.workers import run_parallel
from racetrap.golden_model.gpu.params import LINE_BYTES
from racetrap.golden_model.gpu.region_table import RegionTable, table_of
from racetrap.golden_model.trace import Trace
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.failure import Failure
from racetrap.verdict.gpu.fit import check_fit, check_geometry, region_of
from racetrap.verdict.scord.findings import find_races

if TYPE_CHECKING:
    from racetrap.fpga.host.session import Session


#: Options and forms of `simulate` that apply to a trace, but not to every stimulus.
TRACE_OPTIONS = ("choice", "all_signals", "output", ".fst", ".vcd", "regions")
RUN = PlainRun()


def simulate_trace(call: Simulation, path: str, trace: Trace) -> tuple[int, dict[str, Any]]:
    """Play a trace and print its races; return their number and the JSON document."""
    from racetrap.verdict.scord.hardware import simulate_trace

    with input_errors():
        table = _table(call)
    with input_errors(path):
        if table is None:
            check_fit(trace, call.params)
        check_geometry(trace.header.geometry, call.params)
    return simulate(call, path, trace, region_of(trace), partial(simulate_trace, region=table))


def _table(call: Simulation) -> RegionTable | None:
    """Regions named by the options, with contiguous metadata."""
    if not call.regions:
        return None
    if call.waves is not None:
        raise ValueError("Waves must be of the region of the trace: leave out --region")
    parts = []
    for text in call.regions:
        found = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+):(0x[0-9a-fA-F]+|\d+)", text)
        if not found:
            raise ValueError(f"Option --region must be BASE:BYTES, not {text}")
        base, size = (int(word, 0) for word in found.groups())
        if size % LINE_BYTES or not size:
            raise ValueError(
                f"Option --region must be of whole lines of {LINE_BYTES} bytes, not {size}"
            )
        parts.append((base, size // LINE_BYTES))
    return table_of(call.params, parts, 0)


def _micro_benchmarks(call: Simulation) -> SuiteOutcome:
    """Run and print the suite; return its JSON and its problems."""
    from racetrap.evaluation.scord.micro_benchmarks import MicroBenchmarkRuns, run_micro_benchmark
    from racetrap.presenters.junit import junit_text
    from racetrap.presenters.suites import micro_benchmark_to_dict, print_micro_benchmarks
    from racetrap.sim.cosim.scord.suite import suite_runs
    from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
    from racetrap.sim.gpu.suites.micro.program import program_region

    with input_errors():
        program_region().check(call.params)
        list(suite_runs(call.params, call.schedules, call.seed))
    model = call.build()
    runs = [MicroBenchmarkRuns(model, name, call.schedules, call.seed) for name in MICRO_BENCHMARKS]
    verdicts = run_parallel(run_micro_benchmark, runs, call.jobs, "Simulating")
    print_micro_benchmarks(call.console, verdicts, call.preset, call.seed)
    problems: list[Failure] = [
        Mismatch(f"{each.name}, {each.difference}") for each in verdicts if each.difference
    ]
    failure = str(problems[0]) if problems else None
    cases = {each.name: each.problem for each in verdicts}
    write_file(call.output.get(".xml"), lambda: junit_text(f"scor-micro.{call.preset}", cases))
    problems += [
        Failure(f"Verdict on {each.name} must be {each.expected}, not wrong with {each.wrong[0]}")
        for each in verdicts
        if each.wrong
    ]
    if not problems:
        call.write_waves("play_suite", {"schedules": call.schedules})
    return {
        "failure": failure,
        "benchmarks": list(map(micro_benchmark_to_dict, verdicts)),
    }, problems


def _applications(call: Simulation) -> SuiteOutcome:
    """As ``_micro_benchmarks``."""
    from racetrap.evaluation.scord.applications import application_runs, application_verdicts
    from racetrap.evaluation.scord.runs import run_build
    from racetrap.golden_model.events import USUAL_GEOMETRY
    from racetrap.presenters.suites import application_to_dict, print_applications

    with input_errors():
        check_geometry(USUAL_GEOMETRY, call.params)
    runs = application_runs(call.build(), call.size, call.schedules, call.seed)
    verdicts = application_verdicts(run_parallel(run_build, runs, call.jobs, "Simulating"))
    print_applications(call.console, verdicts, call.size, call.preset, call.seed)
    problems = [
        Failure(f"Verdict on {each.build.program} ({each.build.label}) must be {each.expected}")
        for each in verdicts
        if not each.is_right
    ]
    return {"size": call.size, "builds": list(map(application_to_dict, verdicts))}, problems


def _check_applications(call: Simulation) -> None:
    if call.schedules < 1:
        raise ValueError("Option --schedules must be at least 1 for scor-apps, not 0")


SUITES: Mapping[str, Suite] = MappingProxyType({
    "scor-micro": Suite(
        _micro_benchmarks,
        ("schedules", "all_signals", "output", ".fst", ".vcd", ".xml"),
    ),
    "scor-apps": Suite(_applications, ("schedules", "size"), _check_applications),
})  # fmt: skip


def stream_trace(
    session: Session, params: Any, trace: Trace, settings: PlainRun, choice: RaceChoice,
    where: str, console: Console,
) -> tuple[int, dict[str, Any]]:  # fmt: skip
    """Stream a trace to a board, compare and print the races; return their number and the JSON."""
    from racetrap.fpga.scord.board import ScordBoard, monitored_region

    region = monitored_region(session, params, region_of(trace))
    golden, board = find_races(trace, params, region), ScordBoard(session, params)
    return stream(board, trace, region, golden, choice, where, console)
