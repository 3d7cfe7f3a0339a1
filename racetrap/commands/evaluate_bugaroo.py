"""`racetrap evaluate bugaroo`: tables of the Bugaroo paper."""

from __future__ import annotations

import click

from racetrap.commands.shared.options import jobs_option, result_options
from racetrap.commands.shared.terminal import ExitStatus, fail, report_console, write_json
from racetrap.commands.shared.workers import run_parallel
from racetrap.evaluation.bugaroo.tables import make_tables
from racetrap.evaluation.bugaroo.verdicts import judge, problems, variant_runs
from racetrap.presenters.tables import show_table
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS

__all__ = ["command"]


@click.command("bugaroo")
@click.option(
    "--program", "names", type=click.Choice(list(PROGRAMS)), multiple=True,
    help="Run only this program; may be repeated.",
)  # fmt: skip
@click.option(
    "--schedules", type=click.IntRange(1), default=20, show_default=True,
    help="Schedules of each variant: round robin, then random ones.",
)  # fmt: skip
@jobs_option
@result_options
def command(names: tuple[str, ...], schedules: int, jobs: int, json_file: str | None) -> None:
    """Tables II, III and IV of the Bugaroo paper, and programs in variants of their fences.

    Every variant runs in sequentially consistent schedules, must give NumPy's result, and is judged
    by the exact oracle; see docs/weak-memory-programs.md.

    Exit status 0 if results are right and the oracle's verdicts as the suite states them, else 3.
    """
    runs = variant_runs(names, schedules)
    verdicts = run_parallel(judge, runs, jobs, "Judging")
    tables, wrong = make_tables(verdicts), problems(verdicts)
    console = report_console(json_file)
    for table in tables:
        show_table(console, table)
    facts = {"schedules": schedules, "variants": len(runs)}
    console.print("; ".join(f"{name} {value}" for name, value in facts.items()), markup=False)
    write_json(json_file, {
        **facts, "tables": {table.name: table.to_json() for table in tables}, "problems": wrong,
    })  # fmt: skip
    if wrong:
        fail(wrong[0], ExitStatus.FAILED)
