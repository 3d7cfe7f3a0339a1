"""`racetrap sweep`: cost against detection quality over a grid of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.options import (
    html_option,
    jobs_option,
    output_option,
    result_options,
)
from racetrap.commands.shared.stimuli import check_options
from racetrap.commands.shared.terminal import (
    command_line,
    input_errors,
    progress,
    report_console,
    write_file,
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

_LOCAL = "processes on this machine"


@click.command("sweep")
@click.argument("spec_file", metavar="SPEC", type=InputFile())
@output_option("DIR", "Folder of the results.  [default: sweep/NAME in the cache]")
@jobs_option
@click.option(
    "--scheduler", metavar="ADDRESS",
    help="Measure on the workers of this Dask scheduler instead, as tcp://HOST:8786.",
)  # fmt: skip
@html_option
@result_options
def command(
    spec_file: str, output: Path | None, jobs: int, scheduler: str | None, html_file: str | None,
    json_file: str | None,
) -> None:  # fmt: skip
    """Measure cost and detection quality at every point of a grid of parameters.

    SPEC is a TOML file.  Each result is kept as soon as it is there: after a stop, the same
    command measures only what is missing.

    Exit status 0 if every point was measured or refused with a reason, 2 if SPEC breaks a rule,
    3 if a point could not be measured.
    """
    with input_errors():
        check_options({"jobs": [_LOCAL]}, "--scheduler" if scheduler else _LOCAL)
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
    _measure(tasks, store, jobs, scheduler, len(tasks) - kept)
    results = {number: store.load(task.key) or {} for number, task in tasks.items()}
    rows = rows_of(spec, points, results)
    with input_errors():
        write_whole(folder / "results.csv", csv_text(spec, rows))
    facts = _facts(spec, rows, results, kept)
    front, _, refused = tables_of(spec, rows)
    for table in (front, refused):
        if table.rows:
            show_table(console, table)
    write_json(json_file, {**facts, **to_json(rows)})
    write_file(html_file, lambda: page_of(spec, rows, facts, command_line()))
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
