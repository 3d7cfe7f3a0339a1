"""`racetrap sweep`: cost against detection quality over a grid of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from racetrap.commands.evaluation_options import check_writable, command_line, html_option
from racetrap.commands.stimulus_options import check_options
from racetrap.evaluation.processes import processes
from racetrap.evaluation.sweep.executors import ClusterError, cluster
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.point import Task, sources
from racetrap.evaluation.sweep.results import Row, csv_text, objectives, rows_of
from racetrap.evaluation.sweep.runner import PointFailed, Store, measure_missing, tasks_of
from racetrap.evaluation.sweep.spec import STATE, Spec, read_spec
from racetrap.fpga.flow.tools import ToolError
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    input_errors,
    json_option,
    print_table,
    progress,
    report_console,
    write_json,
)
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cpu.errors import RecordError

__all__ = ["command"]

_TABLE_WIDTH = 150
_LOCAL = "processes on this machine"


@click.command("sweep")
@click.argument("spec_file", metavar="SPEC", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--out", "out", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the results; by default sweep/NAME in the cache.",
)  # fmt: skip
@click.option(
    "--jobs", default=2, show_default=True, type=click.IntRange(1, 64),
    help="Processes on this machine.",
)  # fmt: skip
@click.option(
    "--scheduler", metavar="ADDRESS",
    help="Measure on the workers of this Dask scheduler instead, as tcp://HOST:8786.",
)  # fmt: skip
@html_option
@json_option
def command(
    spec_file: Path, out: Path | None, jobs: int, scheduler: str | None, html_file: str | None,
    json_file: str | None,
) -> None:  # fmt: skip
    """Measure cost and detection quality at every point of a grid of parameters.

    SPEC is a TOML file.  Each result is kept as soon as it is there: after a stop, the same
    command measures only what is missing.

    Exit status 0 if every point was measured or refused with a reason, 2 if SPEC breaks a rule,
    3 if a point could not be measured.
    """
    check_writable(html_file)
    with input_errors():
        check_options({"jobs": [_LOCAL]}, "--scheduler" if scheduler else _LOCAL)
        spec = read_spec(spec_file)
    folder = out or cache_folder() / "sweep" / spec.name
    points = points_of(spec)
    try:
        tasks = tasks_of(spec, points)
    except (RecordError, ToolError) as error:
        fail(error, ExitStatus.FAILED)
    store = Store(folder / "points")
    kept = sum(store.load(task.key) is not None for task in tasks.values())
    console = report_console(json_file)
    console.width = max(console.width, _TABLE_WIDTH)
    console.print(
        f"Sweep {spec.name}: {len(points)} points, {len(points) - len(tasks)} refused, "
        f"{kept} measured before; seed {spec.quality.seed}, {spec.quality.schedules} schedules, "
        f"{spec.cost.seeds} seeds of placement"
    )
    _measure(tasks, store, jobs, scheduler, len(tasks) - kept)
    results = {number: store.load(task.key) or {} for number, task in tasks.items()}
    rows = rows_of(spec, points, results)
    with input_errors():
        (folder / "results.csv").parent.mkdir(parents=True, exist_ok=True)
        (folder / "results.csv").write_text(csv_text(spec, rows), encoding="utf-8")
    facts = _facts(spec, rows, results, kept)
    _report(console, spec, rows)
    write_json(json_file, {**facts, "points": [_row_json(row) for row in rows]})
    if html_file is not None:
        from racetrap.evaluation.sweep.page import html_page  # brings in the plots: slow

        page = html_page(spec, rows, facts, command_line())
        Path(html_file).write_text(page, encoding="utf-8")
    console.print(f"Results are in {folder / 'results.csv'}", markup=False)


def _measure(
    tasks: Mapping[int, Task], store: Store, jobs: int, scheduler: str | None, total: int
) -> None:
    if not total:
        return
    try:
        with cluster(scheduler) if scheduler else processes(jobs) as executor:
            done = measure_missing(tasks, store, executor)
            for _ in progress(done, "Measuring", total=total):
                pass
    except (ClusterError, PointFailed) as error:
        fail(error, ExitStatus.FAILED)
    except OSError as error:
        fail(f"Results cannot be kept: {error}", ExitStatus.FAILED)
    except KeyboardInterrupt:
        kept = sum(store.load(task.key) is not None for task in tasks.values())
        fail(
            f"Sweep was stopped with {kept} of {len(tasks)} points kept; "
            "the same command goes on from there",
            ExitStatus.FAILED,
        )


def _facts(
    spec: Spec, rows: Sequence[Row], results: Mapping[int, Mapping[str, Any]], kept: int
) -> dict[str, Any]:
    cost, quality = spec.cost, spec.quality
    measured = [result for result in results.values() if "figures" in result]
    return {
        "sweep": spec.name,
        "preset": spec.preset,
        "fixed": ", ".join(f"{name}={value}" for name, value in spec.fixed.items()) or "nothing",
        "points": len(rows),
        "measured": len(measured),
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
        "sources": sources()[:16],
        "racetrap": version("racetrap"),
        **_tools(spec),
    }


def _tools(spec: Spec) -> dict[str, str]:
    """What the figures of synthesis were made with, and for."""
    if spec.cost.family == STATE:
        return {}
    from racetrap.evaluation.sweep.cost import tools_of
    from racetrap.fpga.flow.families import FAMILIES

    made_for = {"device": FAMILIES[spec.cost.family].device.name}
    if spec.cost.seeds:
        made_for["constraint"] = f"{spec.cost.constraint_mhz} MHz"
    return made_for | tools_of(spec.cost)


def _row_json(row: Row) -> dict[str, Any]:
    known = {"point": row.point.number, "values": dict(row.point.values)}
    if row.refused:
        return known | {"refused": row.refused}
    return known | {"figures": dict(row.figures), "pareto": row.is_best}


def _report(console: Console, spec: Spec, rows: Sequence[Row]) -> None:
    """Print the front, and what was refused."""
    best = [row for row in rows if row.is_best]
    if best:
        names = objectives(spec, best[0].figures)
        print_table(
            console, f"Pareto front: {len(best)} of {len(rows)} points",
            ["point", *spec.grid, *names],
            [[row.point.number, *row.point.values.values(), *(row.figures[n] for n in names)]
             for row in best],
        )  # fmt: skip
    refused = [[row.point.number, row.point.label, row.refused] for row in rows if row.refused]
    if refused:
        title = f"Refused: {len(refused)} of {len(rows)} points"
        print_table(console, title, ["point", "values", "reason"], refused)
