"""`racetrap evaluate scord`: tables of the ScoRD paper."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_scord import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.sim.gpu.oracle import PAPER_RULE


@click.command("scord")
@options.size
@click.argument("workloads", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(CHOICES))
@click.option("--race-free", is_flag=True, help="Run only the builds without a race.")
@click.option(
    "--schedules", type=click.IntRange(1), default=20, show_default=True,
    help="Schedules of each build: round robin, greedy-then-oldest, in order, then random ones.",
)  # fmt: skip
@click.option(
    "--hardware-schedules", "on_hardware", type=click.IntRange(0), default=3, show_default=True,
    help="Number of these schedules that also run on the generated hardware.",
)  # fmt: skip
@click.option(
    "--region-log2", default=DEFAULT_REGION_LOG2, show_default=True, type=click.IntRange(0, 30),
    help="Log2 of the minimum monitored bytes; with a small region, metadata caching misses more.",
)  # fmt: skip
@options.oracle(PAPER_RULE)
@options.seed
@form_files(PAGE)
@options.result
def command(
    size: str, workloads: tuple[str, ...], race_free: bool, schedules: int, on_hardware: int,
    region_log2: int, oracle: str, seed: int, output: dict[str, str],
    json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce Tables VI and VII of the ScoRD paper: caught and false races of the ScoR suite.

    PROGRAM is a row of the tables (default: all).  Every build of every program runs in several
    schedules and is checked by the exact analysis, by the golden model in each configuration of the
    tables, and by the generated hardware.

    Exit status 0 if hardware and golden model agree and the exact analysis finds no race in
    race-free builds, else 3.
    """
    work = LongWork()
    result = evaluate(
        "scord", *workloads, work=work, size=size, race_free=race_free, schedules=schedules,
        on_hardware=on_hardware, region_log2=region_log2, oracle=oracle, seed=seed,
    )  # fmt: skip
    work.finish_with(result, json_file, output.get(PAGE.end))
