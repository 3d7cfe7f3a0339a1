"""`racetrap simulate`: hardware and golden model together, every step compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.options import (
    complete_preset,
    environment_option,
    instruction_limit_option,
    jobs_option,
    race_options,
    result_options,
    seed_option,
    set_option,
    size_option,
    waves_option,
)
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.simulation import Simulation, Suite
from racetrap.commands.shared.stimuli import check_options, check_reads, check_system
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    report_console,
    write_json,
)
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params, System
from racetrap.generators.systems import SYSTEMS, system_of
from racetrap.golden_model.trace import AnyTrace, read_trace

_SUITES: Mapping[str, System[Any]] = {
    name: system for system in SYSTEMS for name in system.own("commands.shared.detectors").SUITES
}


@click.command("simulate")
@click.argument("preset", metavar="PRESET", shell_complete=complete_preset)
@click.argument("trace_file", metavar="[TRACE]", required=False, type=InputFile())
@click.option("--suite", type=click.Choice(list(_SUITES)), help="Run a suite instead of a trace.")
@seed_option
@click.option(
    "--schedules", type=click.IntRange(min=0), default=4, show_default=True,
    help="Random schedules of each micro-benchmark, besides the fixed ones; or all schedules "
    "of each application.",
)  # fmt: skip
@size_option
@environment_option
@instruction_limit_option
@waves_option
@click.option(
    "--region", "regions", metavar="BASE:BYTES", multiple=True,
    help="Monitor these bytes instead of the trace's region; may be repeated, up to the "
    "parameter regions.",
)  # fmt: skip
@click.option(
    "--junit", "junit_file", metavar="FILE", type=OutputFile(to_standard_output=True),
    help="Write the suite's verdicts as JUnit.",
)  # fmt: skip
@race_options
@jobs_option
@set_option
@result_options
def command(
    preset: str, trace_file: str | None, suite: str | None, settings: tuple[str, ...],
    json_file: str | None, **options: Any,
) -> None:  # fmt: skip
    """Simulate PRESET with the trace file TRACE, or with a suite, and compare every step.

    The hardware runs on the fast co-simulation, in the order of the trace.  Exit status with a
    trace: 0 no race, 1 races found.  With a suite: 0 if every verdict is as expected.  Always:
    2 bad input, 3 hardware and golden model disagree or a tool failed.
    """
    if (trace_file is None) == (suite is None):
        raise click.UsageError("Give either a TRACE or --suite.")
    with input_errors():
        params: Params = with_settings(find_preset(preset).params, settings)
        call = Simulation(
            preset, params, report_console(), has_json=json_file is not None, **options
        )
        trace = None if trace_file is None else read_trace(trace_file)
        _check(call, trace, suite)
    known = {"preset": preset, "parameters": asdict(params), "seed": call.seed}
    if trace is not None:
        own = system_of(params).own("commands.shared.detectors")
        races, document = own.simulate_trace(call, trace_file or "", trace)
        name = given_name(trace_file or "")
        write_json(json_file, {"trace": name, **known, "events": len(trace), **document})
        exit_on(races)
    document, problems = _suite(suite or "").run(call)
    write_json(json_file, {**known, **document})
    if problems:
        raise problems[0]


def _suite(name: str) -> Suite:
    suite: Suite = _SUITES[name].own("commands.shared.detectors").SUITES[name]
    return suite


def _check(call: Simulation, trace: AnyTrace | None, suite: str | None) -> None:
    """Refuse a preset of one detector, and options, for the stimulus of another."""
    if not call.params.trace_port:
        raise ValueError("Parameter trace_port must be true to compare steps, not false")
    if trace is not None:
        check_reads(call.params, type(trace))
        check_options(_stimuli(), trace.kind)
    elif suite is not None:
        check_system(call.params, _SUITES[suite].name, suite)
        check_options(_stimuli(), f"the suite {suite}")
        _suite(suite).check(call)


def _stimuli() -> dict[str, list[str]]:
    """Options that are not for every stimulus, each with those that it is for."""
    found: dict[str, dict[str, None]] = {}
    for system in SYSTEMS:
        own = system.own("commands.shared.detectors")
        parts = [(f"the suite {name}", suite.options) for name, suite in own.SUITES.items()]
        for stimulus, options in [*parts, (system.trace.kind, own.TRACE_OPTIONS)]:
            for option in options:
                found.setdefault(option, {})[stimulus] = None
    return {option: list(stimuli) for option, stimuli in found.items()}
