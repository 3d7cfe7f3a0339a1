"""`racetrap evaluate noncoherent`: figures and table of the thesis on non-coherent accelerators."""

from __future__ import annotations

import time

import click

from racetrap.commands.shared.options import (
    budget_option,
    jobs_option,
    result_options,
    seed_option,
)
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.commands.shared.terminal import (
    ExitStatus,
    command_line,
    fail,
    report_console,
    write_file,
    write_json,
)
from racetrap.commands.shared.workers import run_parallel
from racetrap.evaluation.noncoherent.fixpoint import TINY_MACHINES, reach_fixpoint
from racetrap.evaluation.noncoherent.monitor_cycles import CyclesPart, measure_cycles
from racetrap.evaluation.noncoherent.monitor_quality import (
    ProgramQuality,
    merged_quality,
    program_quality,
    quality_parts,
    random_quality,
)
from racetrap.evaluation.noncoherent.programs import ProgramPart, run_program
from racetrap.evaluation.noncoherent.random_traces import merged, parts_of, run_part
from racetrap.evaluation.noncoherent.runtimes import measure_analysis
from racetrap.evaluation.noncoherent.tables import Evaluation, make_tables, problems
from racetrap.presenters.noncoherent_evaluation import page_of, to_json
from racetrap.presenters.tables import show_table
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS

#: Entries of a set of the bus monitor on programs.
_ENTRIES = (4, 8)


@click.command("noncoherent")
@click.argument(
    "programs", metavar="[PROGRAM]...", nargs=-1, type=click.Choice(list(ACCELERATOR_PROGRAMS))
)
@click.option(
    "--schedules", type=click.IntRange(1), default=100, show_default=True,
    help="Runs of each case of a program under random timings.",
)  # fmt: skip
@budget_option("Random traces to compare with the exhaustive machine.", 10_000, least=0)
@click.option(
    "--also", type=click.Choice(("fixpoint", "original-size", "monitor", "cycles")), multiple=True,
    help="What else to do; may be repeated.  fixpoint visits every state of the tiniest machines "
    "(three minutes); original-size measures the analysis of the thesis' programs at the sizes of "
    "the originals (a minute, 1 GB of temporary files); monitor compares the bus monitor, whose "
    "sets have few entries, with both modes; cycles plays the programs on the generated bus "
    "monitor and counts its cycles.",
)  # fmt: skip
@seed_option
@jobs_option
@form_files(PAGE)
@result_options
def command(
    programs: tuple[str, ...], schedules: int, budget: int, also: tuple[str, ...], seed: int,
    jobs: int, output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Figures and Table 5.1 of the thesis on non-coherent accelerators.

    All our programs or each PROGRAM, in the manner of the thesis' eleven and of firmware, are
    checked in both modes, whole and with single syncs, flushes and paddings left out; the
    exhaustive machine and random timings say what is harmful.  Both modes are compared with the
    machine on random traces.

    Exit status 0 if everything harmful is reported, mode strict agrees with the machine
    everywhere, and the bus monitor loses nothing, claims nothing and does what its golden model
    does, else 3.
    """
    names = [name for name in ACCELERATOR_PROGRAMS if not programs or name in programs]
    started = time.perf_counter()
    parts = [ProgramPart(name, schedules, seed) for name in names]
    found = Evaluation(
        cases=[
            one for cases in run_parallel(run_program, parts, jobs, "Programs") for one in cases
        ],
        random=merged(run_parallel(run_part, parts_of(seed, budget), jobs, "Random traces")),
    )
    if "fixpoint" in also:
        found.fixpoints = run_parallel(reach_fixpoint, TINY_MACHINES, jobs, "Tiny machines")
    if "original-size" in also:
        originals = [name for name in names if ACCELERATOR_PROGRAMS[name].thesis_name]
        found.times = run_parallel(measure_analysis, originals, 1, "Original sizes")
    if "monitor" in also:
        programs_of_monitor = [ProgramQuality(name, _ENTRIES) for name in names]
        qualities = run_parallel(program_quality, programs_of_monitor, jobs, "Bus monitor")
        found.monitors = dict(zip(names, qualities, strict=True))
        found.random_monitor = merged_quality(
            run_parallel(random_quality, quality_parts(seed, budget), jobs, "Bus monitor")
        )
    if "cycles" in also:
        played = [CyclesPart(name, seed) for name in names]
        found.cycles = run_parallel(measure_cycles, played, jobs, "Generated monitor")
    facts = {
        "seed": seed,
        "programs": len(names),
        "programs with something left out": len(found.cases) - len(names),
        "timings of each": schedules,
        "random traces": budget,
        "seconds": round(time.perf_counter() - started),
    }
    tables, wrong = make_tables(found), problems(found)
    console = report_console()
    for table in tables:
        show_table(console, table)
    write_json(json_file, {**facts, **to_json(found, tables)})
    write_file(output.get(PAGE.end), lambda: page_of(found, tables, facts, command_line()))
    console.print("; ".join(f"{name} {value}" for name, value in facts.items()), markup=False)
    if wrong:
        fail(wrong[0], ExitStatus.FAILED)
