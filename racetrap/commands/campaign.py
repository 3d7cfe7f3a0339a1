"""`racetrap campaign`: many random tests of hardware against golden model, step by step."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import ExitStatus, input_errors
from racetrap.evaluation.campaign.random_volume import (
    CaseResult,
    NumberedCases,
    find_compared,
    is_enough,
    run_numbered,
)
from racetrap.evaluation.sigrace.recorded import ComparedProgram, RecordedProgram, compare_program
from racetrap.generators.presets import Preset, find_preset
from racetrap.generators.system import Params
from racetrap.generators.systems import SYSTEM_NAMES, SYSTEMS, check_system, system_named
from racetrap.presenters.campaign import print_campaign, to_json
from racetrap.presenters.recorded_campaign import print_recorded, recorded_to_json
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES

#: What is compared, and the options of each.
_ALL = Subject("random tests of many presets", ("budget", "configurations", "detector"))
_NAMED = Subject("random tests of named presets", ("budget",))
_CASE = Subject("one case of a preset", ("number",))
_RECORDED = Subject("recorded programs", ("recorded",))


@click.command("campaign", cls=SubjectCommand, subjects=(_ALL, _NAMED, _CASE, _RECORDED))
@click.argument("names", metavar="[PRESET]...", nargs=-1, shell_complete=options.complete_preset)
@click.option(
    "--detector", type=options.Choice(SYSTEM_NAMES), help="Only presets of this detector."
)
@click.option(
    "--configurations", type=click.IntRange(1),
    help="Run this many random configurations of each detector instead of the presets.",
)  # fmt: skip
@options.budget(
    "Accesses (of a GPU), core events (sigrace) or operations (noncoherent) to compare for each "
    "preset.", 1_000_000,
)  # fmt: skip
@options.seed
@click.option("--case", "number", type=click.IntRange(0), help="Run only this case of a preset.")
@click.option(
    "--recorded", type=options.Choice(SIZES),
    help="Compare SigRace on the recorded programs of this size instead.",
)  # fmt: skip
@options.result
def command(
    names: tuple[str, ...], detector: str | None, configurations: int | None, budget: int,
    seed: int, number: int | None, recorded: str | None, json_file: str | None,
) -> None:  # fmt: skip
    """Compare hardware and golden model on many random tests, or on recorded programs.

    Without PRESET, all presets are compared. Exit status 0 if they agree everywhere (with or
    without races), 3 if they differ or a tool fails; each difference is printed with the command
    that reruns only its case.
    """
    with input_errors():
        if number is not None and len(names) != 1:
            raise ValueError("Option --case must come with one PRESET, whose case it is")
        if recorded is not None and len(names) > 1:
            raise ValueError("Option --recorded must come with one PRESET at most")
        require_suitable(_subject(names, number, recorded).name)
        if recorded is not None:
            preset = find_preset(names[0] if names else "sigrace")
            check_system(preset.params, "sigrace", _RECORDED.name)
            is_equal = _compare_recorded(preset, recorded, seed, json_file)
            raise SystemExit(ExitStatus.NO_RACE if is_equal else ExitStatus.FAILED)
        presets = _presets(names, detector, configurations)
    if number is None:
        measure = Measure(run_numbered, _words, keeps=_agrees, is_enough=partial(is_enough, budget))
        work = LongWork()
        cases = {preset.name: NumberedCases(preset.name, seed) for preset in presets}
        results = list(work.rows("Comparing", measure, cases).values())
    else:
        work = LongWork(1)
        results = [[run_numbered((names[0], seed, number))]]
    work.finish(
        lambda console: print_campaign(console, results, work.jobs),
        to_json(results, work.jobs),
        json_file,
    )
    differs = any(result.difference for cases in results for result in cases)
    raise SystemExit(ExitStatus.FAILED if differs else ExitStatus.NO_RACE)


def _words(*cases: CaseResult) -> str:
    differences = sum(not _agrees(case) for case in cases)
    unit = cases[0].case.kind.figures[0]
    return f"{len(cases)} cases, {sum(c.volume for c in cases)} {unit}, {differences} differences"


def _agrees(result: CaseResult | ComparedProgram) -> bool:
    return not result.difference


def _subject(names: tuple[str, ...], number: int | None, size: str | None) -> Subject:
    if size is not None:
        return _RECORDED
    if number is not None:
        return _CASE
    return _NAMED if names else _ALL


def _compare_recorded(preset: Preset[Any], size: str, seed: int, json_file: str | None) -> bool:
    """Compare a preset of SigRace on the recorded programs; whether it agrees everywhere."""
    work = LongWork()
    # Without it nothing is run.
    model = cast(FastModel, work.attempt(lambda: build_fast(preset.name, preset.params)))
    measure = Measure(compare_program, _compared, keeps=_agrees)
    programs = {name: RecordedProgram(model, name, size, seed) for name in PROGRAMS}
    results = list(work.one_each("Comparing", measure, programs).values())
    work.finish(
        lambda console: print_recorded(console, results),
        {**recorded_to_json(results), "preset": preset.name, "seed": seed}, json_file,
    )  # fmt: skip
    return all(map(_agrees, results))


def _compared(result: ComparedProgram) -> str:
    return result.difference or f"{result.counts['rdm_steps']} steps of the RDM agree"


def _presets(
    names: tuple[str, ...], detector: str | None, configurations: int | None
) -> list[Preset[Params]]:
    """Presets named, or all presets or some random configurations of one detector or of all."""
    if names:
        return [find_compared(name) for name in dict.fromkeys(names)]
    systems = SYSTEMS if detector is None else [system_named(detector)]
    if configurations is not None:
        return [
            find_preset(f"{one.random_prefix}-{number + 1}")
            for one in systems
            for number in range(configurations)
        ]
    return [preset for one in systems for preset in one.presets.values()]
