"""The task that measures one point: what it depends on, and its result."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

from racetrap.evaluation.kept_results import sources
from racetrap.evaluation.sweep.cost import cost_figures, tools_of
from racetrap.evaluation.sweep.grid import Point
from racetrap.evaluation.sweep.parameters import swept_of
from racetrap.evaluation.sweep.spec import CostSpec, QualitySpec, Spec
from racetrap.fpga.flow.synthesis import MemoryLost
from racetrap.generators.system import Params
from racetrap.sim.failure import DoesNotFit, Failure

#: Threads of a worker take turns: what a process keeps is for one point at a time.
_TURN = Lock()


class SourcesDiffer(Failure):
    """A worker's sources or Python differ from the client's."""


@dataclass(frozen=True)
class Task:
    """One point to measure; everything about its result follows from the task.

    Parameters
    ----------
    params : Params
        Configuration.
    cost : CostSpec
        How cost is measured.
    quality : QualitySpec
        How detection quality is measured.
    sources : str
        Hash of the sources that measure.
    tools : mapping of str to str
        Versions of the tools.
    recordings : mapping of str to str
        Hash of the recording of each program, of a detector of recorded ones.
    """

    params: Params
    cost: CostSpec
    quality: QualitySpec
    sources: str
    tools: Mapping[str, str]
    recordings: Mapping[str, str]


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
    return {
        point.number: Task(
            point.params, spec.cost, spec.quality, sources(), tools,
            swept_of(point.params).recordings(point.params, spec.quality),
        )
        for point in points
        if point.params is not None
    }  # fmt: skip


def measure(task: Task) -> dict[str, Any]:
    """Result of a point, as it is kept: its figures, or why it has none.

    Raises
    ------
    SourcesDiffer
        If the sources here are not those of the task.
    RecordingDiffers
        If a recording here is not that of the task.
    ToolError
        If a block cannot be synthesised or placed for a reason that is not its own.
    """
    if sources() != task.sources:
        raise SourcesDiffer(
            "Worker has other sources or another Python than the client: install the same on both"
        )
    with _TURN:
        start = time.monotonic()
        result: dict[str, Any] = {"params": asdict(task.params)}
        try:
            quality = swept_of(task.params).figures(task.params, task.quality, task.recordings)
            result["figures"] = quality | cost_figures(task.params, task.cost)
        except (DoesNotFit, MemoryLost) as error:
            result["refused"] = str(error)
        result["seconds"] = round(time.monotonic() - start, 2)
    return result
