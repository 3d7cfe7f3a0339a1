"""`racetrap campaign`: volume through hardware and golden model, every step compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from racetrap.commands.shared.options import jobs_option, result_options, seed_option
from racetrap.commands.shared.stimuli import check_options, check_system
from racetrap.commands.shared.terminal import (
    ExitStatus,
    input_errors,
    progress,
    progress_bar,
    report_console,
    write_json,
)
from racetrap.commands.shared.workers import run_parallel
from racetrap.evaluation.campaign.random_volume import (
    Case,
    CaseResult,
    run_case,
    run_cases,
)
from racetrap.evaluation.processes import processes
from racetrap.evaluation.sigrace.recorded import RecordedProgram, compare_program
from racetrap.generators.presets import Preset, find_preset
from racetrap.generators.system import Params
from racetrap.generators.systems import SYSTEM_NAMES, SYSTEMS, system_named
from racetrap.presenters.campaign import print_campaign, to_json
from racetrap.presenters.recorded_campaign import print_recorded, recorded_to_json
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES

_VOLUME, _RECORDED = "random volume", "recorded programs"
#: Options that are not for every stimulus.
_STIMULI = {
    "volume": [_VOLUME], "jobs": [_VOLUME, _RECORDED], "number": ["--case"],
    "configurations": [_VOLUME],
}  # fmt: skip


@click.command("campaign")
@click.option("--preset", "names", multiple=True, help="Preset; may be repeated.  [default: all]")
@click.option("--system", type=click.Choice(SYSTEM_NAMES), help="Only presets of this detector.")
@click.option(
    "--configurations", type=click.IntRange(1),
    help="Run this many random configurations of each detector instead of the presets.",
)  # fmt: skip
@click.option(
    "--volume", default=1_000_000, show_default=True, type=click.IntRange(1),
    help="Accesses (of a GPU), core events (sigrace) or operations (noncoherent) to compare for "
    "each preset.",
)  # fmt: skip
@seed_option
@click.option("--case", "number", type=click.IntRange(0), help="Run only this case of a preset.")
@click.option(
    "--recorded", type=click.Choice(SIZES),
    help="Compare SigRace on the recorded programs of this size instead.",
)  # fmt: skip
@jobs_option
@result_options
def command(
    names: tuple[str, ...], system: str | None, configurations: int | None, volume: int, seed: int,
    number: int | None, recorded: str | None, jobs: int, json_file: str | None,
) -> None:  # fmt: skip
    """Compare hardware and golden model on random volume, or on recorded programs.

    Exit status 0 if they agree everywhere (races or not), 3 if they differ or a tool fails; each
    difference is printed with the line that reruns its case alone.
    """
    with input_errors():
        if number is not None and len(names) != 1:
            raise ValueError("Option --case must come with one --preset")
        if recorded is not None and len(names) > 1:
            raise ValueError("Option --recorded must come with one --preset at most")
        check_options(_STIMULI, _stimulus(number, recorded))
        if recorded is not None:
            preset = find_preset(names[0] if names else "sigrace")
            check_system(preset.params, "sigrace", _RECORDED)
            is_equal = _compare_recorded(preset, recorded, seed, jobs, json_file)
            raise SystemExit(ExitStatus.NO_RACE if is_equal else ExitStatus.FAILED)
        presets = _presets(names, system, configurations)
    models = [
        build_fast(preset.name, preset.params)
        for preset in progress(presets, "Building", len(presets))
    ]
    if number is None:
        results = _run_all(models, volume, seed, jobs)
    else:
        jobs, results = 1, [[run_case(Case(models[0], seed, number))]]
    print_campaign(report_console(), results, jobs)
    write_json(json_file, to_json(results, jobs))
    differs = any(result.difference for cases in results for result in cases)
    raise SystemExit(ExitStatus.FAILED if differs else ExitStatus.NO_RACE)


def _stimulus(number: int | None, size: str | None) -> str:
    if number is not None and size is not None:
        raise ValueError("Option --recorded must come without --case")
    return "--case" if number is not None else _RECORDED if size is not None else _VOLUME


def _compare_recorded(
    preset: Preset[Any], size: str, seed: int, jobs: int, json_file: str | None
) -> bool:
    """Compare a preset of SigRace on the recorded programs; whether it agrees everywhere."""
    with progress_bar("Building"):
        model = build_fast(preset.name, preset.params)
    programs = [RecordedProgram(model, program, size, seed) for program in PROGRAMS]
    results = run_parallel(compare_program, programs, jobs, "Comparing")
    print_recorded(report_console(), results)
    write_json(json_file, recorded_to_json(results) | {"preset": preset.name, "seed": seed})
    return not any(result.difference for result in results)


def _presets(
    names: tuple[str, ...], system: str | None, configurations: int | None
) -> list[Preset[Params]]:
    """Presets named, or all presets or some random configurations of one detector or of all."""
    if names:
        for option, value in (("configurations", configurations), ("system", system)):
            if value is not None:
                raise ValueError(f"Option --{option} must come without --preset")
        return [find_preset(name) for name in dict.fromkeys(names)]
    systems = SYSTEMS if system is None else [system_named(system)]
    if configurations is not None:
        return [
            find_preset(f"{one.random_prefix}-{number + 1}")
            for one in systems
            for number in range(configurations)
        ]
    return [preset for one in systems for preset in one.presets.values()]


def _run_all(
    models: Sequence[FastModel[Any]], volume: int, seed: int, jobs: int
) -> list[list[CaseResult]]:
    """Results of all cases of each model."""
    results: list[list[CaseResult]] = []
    with processes(jobs) as pool, progress_bar("Comparing", volume * len(models)) as update:
        for model in models:
            results.append([])
            for result in run_cases(model, volume, seed, pool, jobs):
                results[-1].append(result)
                update(advance=result.volume)
    return results
