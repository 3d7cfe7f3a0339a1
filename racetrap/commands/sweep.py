"""`racetrap sweep`: cost against detection quality over a grid of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.options import (
    output_option,
    result_options,
)
from racetrap.commands.shared.terminal import (
    command_line,
    input_errors,
    progress,
    report_console,
    write_json,
)
from racetrap.evaluation.processes import processes
from racetrap.evaluation.sweep.cost import tools_of
from racetrap.evaluation.sweep.executors import cluster
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.point import Task, sources
from racetrap.evaluation.sweep.results import PointResult, csv_text, rows_of
from racetrap.evaluation.sweep.runner import Store, measure_missing, tasks_of
from racetrap.evaluation.sweep.spec import STATE, Spec, read_spec
from racetrap.presenters.sweep import page_of, tables_of, to_json
from racetrap.presenters.tables import show_table
from racetrap.sim.content_cache import cache_folder, write_whole
from racetrap.sim.failure import Failure


class _Workers(click.ParamType):
    """Number of processes, or address of a scheduler."""

    name = "workers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        text = str(value)
        if "://" in text:
            return text
        number: int = click.IntRange(1, 64)(text, param, ctx)
        return number


@click.command("sweep")
@click.argument("spec_file", metavar="SPEC", type=InputFile())
@output_option("DIR", "Folder of the results.  [default: sweep/NAME in the cache]")
@click.option(
    "--jobs", metavar="N|ADDRESS", default="2", show_default=True, type=_Workers(),
    help="Worker processes; or a Dask scheduler, as tcp://HOST:8786, whose workers measure.",
)  # fmt: skip
@result_options
def command(
    spec_file: str, output: Path | None, jobs: int | str, json_file: str | None
) -> None:  # fmt: skip
    """Measure cost and detection quality at every point of a grid of parameters.

    SPEC is a TOML file.  Each result is kept as soon as it is there: after a stop, the same
    command measures only what is missing.

    Exit status 0 if every point was measured or refused with a reason, 2 if SPEC breaks a rule,
    3 if a point could not be measured.
    """
    with input_errors():
        spec = read_spec(Path(spec_file))
    folder = output or cache_folder() / "sweep" / spec.name
    points = points_of(spec)
    tasks, store = tasks_of(spec, points), Store(folder / "points")
    kept = sum(store.load(task.key) is not None for task in tasks.values())
    console = report_console()
    console.print(
        f"Sweep {spec.name}: {len(points)} points, {len(points) - len(tasks)} refused, "
        f"{kept} measured before; seed {spec.quality.seed}, {spec.quality.schedules} schedules, "
        f"{spec.cost.seeds} seeds of placement"
    )
    _measure(tasks, store, jobs, len(tasks) - kept)
    results = {number: store.load(task.key) or {} for number, task in tasks.items()}
    rows = rows_of(spec, points, results)
    with input_errors():
        write_whole(folder / "results.csv", csv_text(spec, rows))
    facts = _facts(spec, rows, results, kept)
    with input_errors():
        write_whole(folder / "results.html", page_of(spec, rows, facts, command_line()))
    front, _, refused = tables_of(spec, rows)
    for table in (front, refused):
        if table.rows:
            show_table(console, table)
    write_json(json_file, {**facts, **to_json(rows)})
    console.print(f"Results are in {folder / 'results.csv'} and results.html", markup=False)


def _measure(tasks: Mapping[int, Task], store: Store, jobs: int | str, total: int) -> None:
    if not total:
        return
    try:
        with cluster(jobs) if isinstance(jobs, str) else processes(jobs) as executor:
            done = measure_missing(tasks, store, executor)
            for _ in progress(done, "Measuring", total=total):
                pass
    except OSError as error:
        raise Failure(f"Results cannot be kept: {error.strerror or error}") from error
    except KeyboardInterrupt:
        kept = sum(store.load(task.key) is not None for task in tasks.values())
        raise KeyboardInterrupt(
            f"Sweep was stopped with {kept} of {len(tasks)} points kept; "
            "the same command continues from there"
        ) from None


def _facts(
    spec: Spec, rows: Sequence[PointResult], results: Mapping[int, Mapping[str, Any]], kept: int
) -> dict[str, Any]:
    cost, quality = spec.cost, spec.quality
    return {
        "sweep": spec.name,
        "preset": spec.preset,
        "fixed": ", ".join(f"{name}={value}" for name, value in spec.fixed.items()) or "nothing",
        "points": len(rows),
        "measured": sum("figures" in result for result in results.values()),
        "measured before": kept,
        "refused": sum(bool(row.refused) for row in rows),
        "cost": cost.family,
        "blocks": ", ".join(cost.blocks) or "none",
        "seeds of placement": cost.seeds,
        "workloads": ", ".join(quality.workloads),
        "size": quality.size,
        "schedules": quality.schedules,
        "seed": quality.seed,
        "seconds in workers": round(sum(result["seconds"] for result in results.values()), 1),
        "sources": sources(),
        "racetrap": version("racetrap"),
        **_made_with(spec),
    }


def _made_with(spec: Spec) -> dict[str, str]:
    """Device, constraint and tools of synthesis."""
    if spec.cost.family == STATE:
        return {}
    from racetrap.fpga.flow.families import FAMILIES

    made_for = {"device": FAMILIES[spec.cost.family].device.name}
    if spec.cost.seeds:
        made_for["constraint"] = f"{spec.cost.constraint_mhz} MHz"
    return made_for | tools_of(spec.cost)
