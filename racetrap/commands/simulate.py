"""`racetrap simulate`: hardware and golden model together, every step compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click

from racetrap.calls.report import Report
from racetrap.calls.simulate import SUITES, simulate, subject_of
from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import NameOrFile
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.simulation import WAVES
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import exit_on, report_console, write_json
from racetrap.generators.systems import SYSTEMS
from racetrap.presenters.race_choice import RaceChoice


def _subjects() -> Iterator[Subject]:
    """Stimuli of each detector, with the options that apply to them."""
    for system in SYSTEMS:
        own = system.own("commands.shared.detectors")
        yield Subject(subject_of(system, system.trace.kind), own.TRACE_OPTIONS)
        for name, suite in own.SUITES.items():
            yield Subject(subject_of(system, f"the suite {name}"), suite.options)


@click.command("simulate", cls=SubjectCommand, subjects=tuple(_subjects()))
@click.argument("preset", metavar="PRESET", shell_complete=options.complete_preset)
@click.argument("stimulus", metavar="TRACE|SUITE", type=NameOrFile(SUITES))
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
    help="Monitor these bytes instead of the trace's region; may be repeated, as often as "
    "the parameter `regions` says.",
)  # fmt: skip
@options.limit
@options.setting
@form_files(*WAVES, Form(".xml", "the suite's verdicts as JUnit"))
@options.result
def command(
    preset: str, stimulus: str, choice: RaceChoice, settings: tuple[str, ...],
    json_file: str | None, **others: Any,
) -> None:  # fmt: skip
    """Simulate PRESET on the trace file TRACE or a SUITE, and compare it with the golden model.

    The suites are scor-micro and scor-apps for ScoRD, threads for SigRace; write ./NAME for a file
    with such a name.  Every step is compared, by the fast co-simulation, in the order of the trace;
    waves come from a second run on the testbench.  For SigRace, --set also changes `environment`
    (mapping of threads to cores) and `instruction_limit`.

    Exit status with a trace: 0 no race, 1 races found.  With a suite: 0 if every verdict is as
    expected.  With either: 2 bad input, 3 hardware and golden model disagree or a tool failed.
    """
    result = simulate(
        preset, stimulus, settings=settings, jobs=options.worker_count(), **others,
        report=Report(
            report_console(), replace(choice, has_json=json_file is not None), require_suitable
        ),
    )  # fmt: skip
    write_json(json_file, result.document)
    if result.races is not None:
        exit_on(result.races)
    if result.problems:
        raise result.problems[0]
