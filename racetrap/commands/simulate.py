"""`racetrap simulate`: hardware and golden model together, every step compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.simulation import WAVES, Simulation, Suite
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    report_console,
    write_json,
)
from racetrap.generators.presets import find_preset, with_all_settings
from racetrap.generators.system import System
from racetrap.generators.systems import SYSTEMS, check_reads, check_system, system_of
from racetrap.golden_model.trace import AnyTrace, read_trace
from racetrap.presenters.race_choice import RaceChoice

_SUITES: Mapping[str, System[Any]] = {
    name: system for system in SYSTEMS for name in system.own("commands.shared.detectors").SUITES
}


class _Stimulus(InputFile):
    """Name of a suite, or of a trace file."""

    def files(self, values: Sequence[str], others: Mapping[str, Any]) -> list[str]:
        return super().files([value for value in values if value not in _SUITES], others)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) if value in _SUITES else super().convert(value, param, ctx)


def _on(system: System[Any], stimulus: str) -> str:
    """Subject of a call: a stimulus on a detector."""
    return f"{stimulus} on {system.name}"


def _subjects() -> Iterator[Subject]:
    """Stimuli of each detector, with the options that apply to them."""
    for system in SYSTEMS:
        own = system.own("commands.shared.detectors")
        yield Subject(_on(system, system.trace.kind), own.TRACE_OPTIONS)
        for name, suite in own.SUITES.items():
            yield Subject(_on(system, f"the suite {name}"), suite.options)


@click.command("simulate", cls=SubjectCommand, subjects=tuple(_subjects()))
@click.argument("preset", metavar="PRESET", shell_complete=options.complete_preset)
@click.argument("stimulus", metavar="TRACE|SUITE", type=_Stimulus())
@options.seed
@click.option(
    "--schedules", type=click.IntRange(min=0), default=4, show_default=True,
    help="Random schedules of each micro-benchmark, besides the fixed ones; or all schedules "
    "of each application.",
)  # fmt: skip
@options.size
@click.option(
    "--all-signals", is_flag=True,
    help="Record waves of every signal, not only ports, events and steps.",
)  # fmt: skip
@click.option(
    "--region", "regions", metavar="BASE:BYTES", multiple=True,
    help="Monitor these bytes instead of the trace's region; may be repeated, up to the "
    "parameter regions.",
)  # fmt: skip
@options.limit
@options.jobs
@options.setting
@form_files(*WAVES, Form(".xml", "the suite's verdicts as JUnit"))
@options.result
def command(
    preset: str, stimulus: str, choice: RaceChoice, settings: tuple[str, ...],
    json_file: str | None, **options: Any,
) -> None:  # fmt: skip
    """Simulate PRESET on the trace file TRACE or a SUITE, and compare it with the golden model.

    The suites are scor-micro and scor-apps for ScoRD, threads for SigRace; write ./NAME for a file
    with such a name.  Every step is compared, by the fast co-simulation, in the order of the trace;
    waves come from a second run on the testbench.  For SigRace, --set also changes `environment`
    (mapping of threads to cores) and `instruction_limit`.

    Exit status with a trace: 0 no race, 1 races found.  With a suite: 0 if every verdict is as
    expected.  Always: 2 bad input, 3 hardware and golden model disagree or a tool failed.
    """
    with input_errors():
        found = find_preset(preset).params
        own = system_of(found).own("commands.shared.detectors")
        params, run = with_all_settings(settings, found, own.RUN)
        call = Simulation(
            preset, params, report_console(), run=run,
            choice=replace(choice, has_json=json_file is not None), **options,
        )  # fmt: skip
        trace = None if stimulus in _SUITES else read_trace(stimulus)
        _check(call, trace, stimulus)
    known = {"preset": preset, "parameters": asdict(params), "seed": call.seed}
    if trace is not None:
        races, document = own.simulate_trace(call, stimulus, trace)
        name = given_name(stimulus)
        write_json(json_file, {"trace": name, **known, "events": len(trace), **document})
        exit_on(races)
    document, problems = _suite(stimulus).run(call)
    write_json(json_file, {**known, **document})
    if problems:
        raise problems[0]


def _suite(name: str) -> Suite:
    suite: Suite = _SUITES[name].own("commands.shared.detectors").SUITES[name]
    return suite


def _check(call: Simulation, trace: AnyTrace | None, stimulus: str) -> None:
    """Refuse a preset and options that are not for this stimulus."""
    if not call.params.trace_port:
        raise ValueError("Parameter trace_port must be true to compare steps, not false")
    system = system_of(call.params)
    if trace is not None:
        check_reads(call.params, type(trace))
        require_suitable(_on(system, trace.kind))
    else:
        check_system(call.params, _SUITES[stimulus].name, stimulus)
        require_suitable(_on(system, f"the suite {stimulus}"))
        _suite(stimulus).check(call)
