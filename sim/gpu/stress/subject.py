"""Subject of stress: a kernel with its launches, and what results are right.

Ref: Bugaroo Sections III-D and IV-B.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.golden_model.ptx_memory_model.operational import Choices, Deviation
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS, WeakMemorySettings
from racetrap.sim.gpu.launch.capture import Capture, capture
from racetrap.sim.gpu.launch.launch_arguments import BufferArgument, first_difference
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.ptx.module import Module

__all__ = ["Failure", "Fences", "Run", "Subject"]

#: Sequentially consistent runs whose results are taken to be right.
_SEQUENTIAL_RUNS = 10
#: Warp instructions of a weak run: this many times those of a sequential one, and some more.
_LONGER, _MORE = 30, 50_000


class Failure(Enum):
    """How a run fails; the value is its name."""

    RESULT = "wrong result"
    FAULT = "fault"
    HANG = "hang"


class Fences(NamedTuple):
    """Changes to the fences of a program.

    Parameters
    ----------
    changed : mapping of int to (Order, Scope) or None
        Other fences, by program counter; ``None`` leaves one out.
    inserted : mapping of int to (Order, Scope)
        Further ones, by program counter of the access behind each.
    """

    changed: Mapping[int, tuple[Order, Scope] | None] = {}
    inserted: Mapping[int, tuple[Order, Scope]] = {}


@dataclass(frozen=True)
class Run:
    """A run by a weak memory.

    Parameters
    ----------
    failure : Failure, optional
        How it failed, if it did.
    sentence : str
        What went wrong.
    deviations : tuple of Deviation
        Where it differs from a run with sequentially consistent memory, warps in order.
    """

    failure: Failure | None
    sentence: str
    deviations: tuple[Deviation, ...]


@dataclass
class Subject:
    """A kernel file with a launch file.

    Parameters
    ----------
    module : Module
        The kernels.
    launch : LaunchSpec
        Their launches; what buffers are expected to hold says what is right.
    expected : mapping of int or str to ndarray
        What further buffers are expected to hold, by name or number of the argument.  If nothing
        is expected at all, right is what sequentially consistent runs give.
    """

    module: Module
    launch: LaunchSpec
    expected: Mapping[int | str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arguments = [argument for _, table in self.launch.launches for argument in table.arguments]
        buffers: list[object] = [*arguments, *self.launch.buffers]
        self._expects = bool(self.expected) or any(
            isinstance(buffer, BufferArgument) and buffer.expected is not None for buffer in buffers
        )
        #: Results of sequentially consistent runs, and the warp instructions of the longest.
        self._results: list[dict[int | str, bytes]] = []
        self._longest = 0
        self._failure = ""
        for schedule in range(1 if self._expects else _SEQUENTIAL_RUNS):
            run = capture(self.module, self.launch, schedule)
            self._longest = max(self._longest, run.stats.warp_instructions)
            differences = self._differences(run) if self._expects else run.differences
            self._failure = self._failure or str(run.fault or "") or "; ".join(differences)
            self._results.append({name: values.tobytes() for name, values in run.buffers.items()})
        if self._failure:
            raise ValueError(
                "Kernel must be right by sequentially consistent memory before it is stressed, "
                f"not have: {self._failure.splitlines()[0]}"
            )

    def _differences(self, run: Capture) -> list[str]:
        found = list(run.differences)
        for name, wanted in self.expected.items():
            if name not in run.buffers:
                names = ", ".join(map(str, run.buffers))
                raise ValueError(f"Buffer to expect must be one of {names}, not {name}")
            contents = run.buffers[name]
            if wanted.size != contents.size:
                raise ValueError(
                    f"Expected contents of buffer {name} must be {contents.size} numbers, "
                    f"not {wanted.size}"
                )
            if difference := first_difference(contents, wanted.ravel()):
                found.append(f"Buffer {name} must have {difference}")
        if not self._expects:
            found += self._unlike_sequential(run)
        return found

    def _unlike_sequential(self, run: Capture) -> list[str]:
        """What no sequentially consistent run has given."""
        contents = {name: values.tobytes() for name, values in run.buffers.items()}
        if not self._results or contents in self._results:
            return []
        others = [
            str(name) for name, values in contents.items()
            if all(values != other[name] for other in self._results)
        ]  # fmt: skip
        buffers = f"Buffer {', '.join(others)}" if others else "Buffers together"
        return [f"{buffers} must hold what a sequentially consistent run gives, not other values"]

    def run(self, memory: str, choices: Choices, fences: Fences | None = None) -> Run:
        """Run by a memory model.

        Parameters
        ----------
        memory : str
            One of ``MEMORY_MODELS``.
        choices : Choices
            Takes all choices.
        fences : Fences, optional
            Changes to the program's fences.
        """
        settings = WeakMemorySettings(MEMORY_MODELS[memory], choices, *(fences or Fences()))
        limit = _LONGER * self._longest + _MORE
        failure, sentence = None, ""
        try:
            run = capture(self.module, self.launch, memory=settings, instruction_limit=limit)
        except ExecutionError as error:
            failure, sentence = Failure.HANG, str(error)
        else:
            if run.fault is not None:
                hangs = run.fault.fault is Fault.NO_END
                failure, sentence = Failure.HANG if hangs else Failure.FAULT, str(run.fault)
            elif differences := self._differences(run):
                failure, sentence = Failure.RESULT, "; ".join(differences)
        return Run(failure, sentence, tuple(choices.deviations))
