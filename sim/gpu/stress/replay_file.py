"""Replay files: the deviations of a run, as JSON."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from racetrap.golden_model.atomic_write import atomic_write_text
from racetrap.golden_model.ptx_memory_model.operational import Deviation, Kind
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS

_FORMAT: Literal["racetrap replay 1"] = "racetrap replay 1"


class _Choice(BaseModel):
    """A deviation, without its story."""

    model_config = ConfigDict(extra="forbid")
    kind: Kind
    number: Annotated[int, Field(ge=0)]
    option: Annotated[int, Field(ge=1)]
    options: Annotated[int, Field(ge=2)]


class Replay(BaseModel):
    """A run to be repeated.

    Parameters
    ----------
    format : str
        Name and version of the format.
    kernel : str
        Name of the kernel file that it was found with.
    memory : str
        Memory model.
    choices : list
        The deviations.
    """

    model_config = ConfigDict(extra="forbid")
    format: Literal["racetrap replay 1"] = _FORMAT
    kernel: str
    memory: str
    choices: list[_Choice]

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """The deviations."""
        return tuple(Deviation(c.number, c.kind, c.option, c.options) for c in self.choices)


def write_replay(path: str, kernel: str, memory: str, deviations: Sequence[Deviation]) -> None:
    """Write a replay file."""
    choices = [_Choice.model_validate(one._asdict(), extra="ignore") for one in deviations]
    replay = Replay(kernel=kernel, memory=memory, choices=choices)
    atomic_write_text(path, json.dumps(replay.model_dump(mode="json"), indent=1) + "\n")


def read_replay(path: str, kernel: str) -> Replay:
    """Read a replay file that was written for a kernel file of this name.

    Raises
    ------
    ValueError
        If it is not a replay file, or is of another kernel.
    OSError
        If it cannot be read.
    """
    try:
        replay = Replay.model_validate_json(Path(path).read_bytes().removeprefix(BOM_UTF8))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "file"
        raise ValueError(
            f"{path}: not a replay file of racetrap stress: {error.errors()[0]['msg'].lower()} "
            f"at {place}"
        ) from None
    if replay.memory not in MEMORY_MODELS:
        names = " or ".join(MEMORY_MODELS)
        raise ValueError(f"{path}: Memory must be {names}, not {replay.memory}")
    if replay.kernel != kernel:
        raise ValueError(f"{path}: Kernel must be {replay.kernel}, not {kernel}")
    return replay
