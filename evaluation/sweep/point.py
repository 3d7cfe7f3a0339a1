"""The task that measures one point: what it depends on, and what comes of it."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from glob import glob
from pathlib import Path
from threading import Lock
from typing import Any

import racetrap
from racetrap.evaluation.sweep.cost import cost_figures
from racetrap.evaluation.sweep.parameters import swept_of
from racetrap.evaluation.sweep.spec import CostSpec, QualitySpec
from racetrap.fpga.flow.fit import DoesNotFit
from racetrap.fpga.flow.synthesis import MemoryLost
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.sim.content_cache import content_key
from racetrap.sim.toml_file import Table

#: Threads of a worker take turns: what a process keeps is for one point at a time.
_TURN = Lock()


class SourcesDiffer(RuntimeError):
    """A worker has other sources, or another Python, than the client."""


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

    @property
    def key(self) -> str:
        """Name of the result: a hash of all that it depends on."""
        task = {"system": system_of(self.params).name} | asdict(self)
        text = json.dumps(task, sort_keys=True, default=Table.model_dump)
        return hashlib.sha256(text.encode()).hexdigest()


@cache
def sources() -> str:
    """Hash of all sources of racetrap, and of the Python that runs them."""
    found = sorted(glob(f"{racetrap.__path__[0]}/**/*", recursive=True))
    files = [Path(name) for name in found if "__pycache__" not in name and Path(name).is_file()]
    return content_key(sys.version, files=files)


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
        raise SourcesDiffer("Worker must have the sources and the Python of the client, not others")
    with _TURN:
        start = time.monotonic()
        result: dict[str, Any] = {"key": task.key, "params": asdict(task.params)}
        try:
            quality = swept_of(task.params).figures(task.params, task.quality, task.recordings)
            result["figures"] = quality | cost_figures(task.params, task.cost)
        except (DoesNotFit, MemoryLost) as error:
            result["refused"] = str(error)
        result["seconds"] = round(time.monotonic() - start, 2)
    return result
