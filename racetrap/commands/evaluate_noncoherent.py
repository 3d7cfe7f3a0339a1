"""`racetrap evaluate noncoherent`: figures and table of the thesis on non-coherent accelerators."""

from __future__ import annotations

import time
from collections.abc import Sequence

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.commands.shared.terminal import command_line
from racetrap.evaluation.noncoherent.fixpoint import TINY_MACHINES, reach_fixpoint
from racetrap.evaluation.noncoherent.monitor_cycles import CyclesPart, measure_cycles
from racetrap.evaluation.noncoherent.monitor_quality import (
    MonitorQuality,
    ProgramQuality,
    merged_quality,
    program_quality,
    random_quality,
)
from racetrap.evaluation.noncoherent.programs import ProgramCase, ProgramPart, run_program
from racetrap.evaluation.noncoherent.random_traces import RandomResult, merged, parts_of, run_part
from racetrap.evaluation.noncoherent.runtimes import measure_analysis
from racetrap.evaluation.noncoherent.tables import Evaluation, make_tables, problems
from racetrap.presenters.noncoherent_evaluation import page_of, to_json
from racetrap.presenters.tables import show_tables
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS

#: Entries of a set of the bus monitor on programs.
_ENTRIES = (4, 8)


@click.command("noncoherent")
@click.argument(
    "programs", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(list(ACCELERATOR_PROGRAMS))
)
@click.option(
    "--schedules", type=click.IntRange(1), default=100, show_default=True,
    help="Runs of each case of a program under random timings.",
)  # fmt: skip
@options.budget("Random traces to compare with the exhaustive machine.", 10_000, least=0)
@click.option(
    "--also", multiple=True,
    type=options.Choice(("fixpoint", "original-size", "monitor", "cycles")),
    help="Further measurements; may be repeated.  fixpoint: visit every state of the smallest "
    "machines (three minutes); original-size: time the analysis on inputs of the thesis' sizes (a "
    "minute, 1 GB of temporary files); monitor: compare the bus monitor, with few entries per set, "
    "with both modes; cycles: play the programs on the generated bus monitor and count its cycles.",
)  # fmt: skip
@options.seed
@options.jobs
@form_files(PAGE)
@options.result
def command(
    programs: tuple[str, ...], schedules: int, budget: int, also: tuple[str, ...], seed: int,
    jobs: int, output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce figures and Table 5.1 of the thesis on non-coherent accelerators.

    Each PROGRAM (default: all; modelled on the thesis' eleven and on firmware) is checked in both
    modes, as it is and with single syncs, flushes and paddings removed; the exhaustive machine and
    random timings decide what is harmful.  Both modes are also compared with the machine on random
    traces.

    Exit status 0 if everything harmful is reported, mode strict agrees with the machine everywhere,
    and the bus monitor has no missed or false race and equals its golden model, else 3.
    """
    names = [name for name in ACCELERATOR_PROGRAMS if not programs or name in programs]
    started, work = time.perf_counter(), LongWork(jobs)
    cases = work.one_each(
        "Programs", Measure(run_program, _cases_words),
        {name: ProgramPart(name, schedules, seed) for name in names},
    )  # fmt: skip
    random = work.one_each(
        "Random traces", Measure(run_part, _random_words),
        {f"random traces {each.first} to {each.last}": each for each in parts_of(seed, budget)},
    )  # fmt: skip
    found = Evaluation([one for some in cases.values() for one in some], merged(random.values()))
    if "fixpoint" in also:
        visited = work.one_each(
            "Tiny machines", Measure(reach_fixpoint, lambda one: f"{one.states} states"),
            {f"tiny machine {number}": each for number, each in enumerate(TINY_MACHINES, 1)},
        )  # fmt: skip
        found.fixpoints = list(visited.values())
    if "original-size" in also:
        times = work.one_each(
            "Original sizes", Measure(measure_analysis, lambda one: f"{one.operations} operations"),
            {f"{name} at its original size": name for name in names
             if ACCELERATOR_PROGRAMS[name].thesis_name}, jobs=1,
        )  # fmt: skip
        found.times = list(times.values())
    if "monitor" in also:
        watched = {f"{name} by the bus monitor": ProgramQuality(name, _ENTRIES) for name in names}
        qualities = work.one_each(
            "Bus monitor", Measure(program_quality, lambda each: _monitor_words(*each.values())),
            watched,
        )  # fmt: skip
        found.monitors = {watched[label].program: each for label, each in qualities.items()}
        random_parts = enumerate(parts_of(seed, budget), 1)
        random_qualities = work.one_each(
            "Bus monitor", Measure(random_quality, _monitor_words),
            {f"random traces by the bus monitor, part {number}": part
             for number, part in random_parts},
        )  # fmt: skip
        found.random_monitor = merged_quality(random_qualities.values())
    if "cycles" in also:
        played = work.one_each(
            "Generated monitor", Measure(measure_cycles, lambda one: f"{one.cycles} cycles"),
            {f"{name} on the generated monitor": CyclesPart(name, seed) for name in names},
        )  # fmt: skip
        found.cycles = list(played.values())
    facts: dict[str, object] = {
        "seed": seed,
        "programs": len(cases),
        "programs with something left out": len(found.cases) - len(cases),
        "timings of each": schedules,
        "random traces": found.random.traces,
        "seconds": round(time.perf_counter() - started),
    }
    tables = make_tables(found)
    work.finish(
        lambda console: show_tables(console, tables, facts),
        {**facts, **to_json(found, tables)}, json_file, page_file=output.get(PAGE.end),
        page=lambda: page_of(found, tables, facts | work.remark, command_line()),
        problems=problems(found),
    )  # fmt: skip


def _cases_words(cases: Sequence[ProgramCase]) -> str:
    harmful = sum(case.is_harmful for case in cases)
    return f"{len(cases)} cases, harmful {harmful}, reported {sum(c.is_reported for c in cases)}"


def _random_words(result: RandomResult) -> str:
    return f"racy {result.racy}, different {len(result.differing)}"


def _monitor_words(*found: MonitorQuality) -> str:
    return f"lost {sum(len(one.lost) for one in found)} of {sum(one.races for one in found)} races"
