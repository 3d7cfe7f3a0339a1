"""`racetrap sweep`: cost against detection quality over a grid of parameters."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import (
    command_line,
    input_errors,
    report_console,
)
from racetrap.evaluation.kept_results import sources
from racetrap.evaluation.sweep.cost import tools_of
from racetrap.evaluation.sweep.executors import cluster
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.point import measure, tasks_of
from racetrap.evaluation.sweep.results import PointResult, csv_text, rows_of
from racetrap.evaluation.sweep.spec import STATE, Spec, read_spec
from racetrap.presenters.sweep import page_of, tables_of, to_json
from racetrap.presenters.tables import cell_text, show_table
from racetrap.sim.cache_inventory import SWEEPS
from racetrap.sim.content_cache import cache_folder, write_whole


@click.command("sweep")
@click.argument("spec_file", metavar="SPEC", type=InputFile())
@options.output("DIR", "Folder of the results.  [default: sweep/NAME in the cache]")
@options.result
def command(
    spec_file: str, output: Path | None, json_file: str | None
) -> None:  # fmt: skip
    """Measure cost and detection quality at every point of a grid of parameters.

    SPEC is a TOML file.  Each result is saved at once: after an interruption, the same command
    measures only what is missing.

    Exit status 0 if every point was measured or refused with a reason, 2 if SPEC is invalid, 3 if a
    point could not be measured.  With `racetrap --jobs tcp://HOST:8786 sweep SPEC`, the workers of
    a Dask scheduler measure.
    """
    with input_errors():
        spec = read_spec(Path(spec_file))
    folder = output or cache_folder() / "sweep" / spec.name
    points = points_of(spec)
    tasks = tasks_of(spec, points)
    console = report_console()
    console.print(
        f"Sweep {spec.name}: {len(points)} points, {len(points) - len(tasks)} refused; "
        f"seed {spec.quality.seed}, {spec.quality.schedules} schedules, "
        f"{spec.cost.seeds} seeds of placement"
    )
    labels = {number: f"point {number} ({points[number].label})" for number in tasks}
    scheduler = options.scheduler_address()
    work = LongWork(sys.maxsize, partial(cluster, scheduler)) if scheduler else LongWork()
    measured = work.one_each(
        "Measuring", Measure(measure, _words, folder=SWEEPS),
        {labels[number]: task for number, task in tasks.items()},
    )  # fmt: skip
    results = {number: measured[label] for number, label in labels.items() if label in measured}
    rows = rows_of(spec, points, results)
    facts = _facts(spec, rows, results)
    page = page_of(spec, rows, facts | work.remark, command_line())
    with input_errors():
        if not work.missing:  # a part of them would pass for all
            write_whole(folder / "results.csv", csv_text(spec, rows))
        write_whole(folder / "results.html", page)
    front, _, refused = tables_of(spec, rows)

    def show(console: Console) -> None:
        for table in (front, refused):
            if table.rows:
                show_table(console, table)
        written = "results.html" if work.missing else "results.csv and results.html"
        console.print(f"Results are in {folder}: {written}", markup=False)

    work.finish(show, {**facts, **to_json(rows)}, json_file)


def _words(result: Mapping[str, Any]) -> str:
    figures = result.get("figures", {"refused": result.get("refused")})
    return ", ".join(f"{name} {cell_text(value)}" for name, value in figures.items())


def _facts(
    spec: Spec, rows: Sequence[PointResult], results: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    cost, quality = spec.cost, spec.quality
    return {
        "sweep": spec.name,
        "preset": spec.preset,
        "fixed": ", ".join(f"{name}={value}" for name, value in spec.fixed.items()) or "nothing",
        "points": len(rows),
        "measured": sum("figures" in result for result in results.values()),
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
