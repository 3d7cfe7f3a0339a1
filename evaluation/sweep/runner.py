"""Running a sweep: what is missing is measured, and every result is kept as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrap.evaluation.sweep.cost import tools_of
from racetrap.evaluation.sweep.grid import Point
from racetrap.evaluation.sweep.parameters import swept_of
from racetrap.evaluation.sweep.point import Task, measure, sources
from racetrap.evaluation.sweep.spec import Spec
from racetrap.sim.content_cache import write_whole
from racetrap.sim.failure import Failure


class PointFailed(Failure):
    """A point could not be measured, for a reason that is not its own."""


def tasks_of(spec: Spec, points: Sequence[Point]) -> dict[int, Task]:
    """Tasks of the points that have a configuration, by number of the point.

    Programs are recorded here, once, so that all points are about the same runs.

    Raises
    ------
    RecordError
        If a program cannot be recorded.
    ToolError
        If a tool is not installed.
    """
    tools = tools_of(spec.cost)
    tasks = {}
    for point in points:
        if point.params is None:
            continue
        recordings = swept_of(point.params).recordings(point.params, spec.quality)
        tasks[point.number] = Task(
            point.params, spec.cost, spec.quality, sources(), tools, recordings
        )
    return tasks


@dataclass(frozen=True)
class Store:
    """Results in a folder, one file each, named by what the result depends on.

    Parameters
    ----------
    folder : Path
        The folder.
    """

    folder: Path

    def load(self, key: str) -> dict[str, Any] | None:
        """A result; ``None`` if it is not there, or its file is not whole."""
        try:
            result = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return result if isinstance(result, dict) and result.get("key") == key else None

    def save(self, result: Mapping[str, Any]) -> None:
        """Keep a result: whole, or not at all if the process is killed.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        write_whole(self._path(result["key"]), json.dumps(result, indent=1) + "\n")

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def measure_missing(
    tasks: Mapping[int, Task],
    store: Store,
    executor: Executor,
    job: Callable[[Task], dict[str, Any]] = measure,
) -> Iterator[int]:
    """Measure every task whose result is not in the store; gives the point of each when kept.

    Parameters
    ----------
    tasks : mapping of int to Task
        Tasks by point.
    store : Store
        Where results are kept.
    executor : Executor
        Where points are measured.
    job : callable
        What measures a point; it must be importable by the workers.

    Raises
    ------
    PointFailed
        If a point fails; results so far are kept.
    OSError
        If a result cannot be written.
    """
    missing = {number: task for number, task in tasks.items() if store.load(task.key) is None}
    futures = {executor.submit(job, task): number for number, task in missing.items()}
    for future in as_completed(futures):
        number = futures[future]
        try:
            result = future.result()
        except Exception as error:  # whatever a worker, or the way to it, has met
            raise PointFailed(f"Point {number} cannot be measured: {error}") from error
        store.save(result)
        yield number
