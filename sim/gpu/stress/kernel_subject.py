"""A kernel with its launches as a subject of stress, and what results are right.

Ref: Bugaroo Sections III-D and IV-B.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from racetrap.golden_model.ptx_memory_model.operational import Choices
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault
from racetrap.sim.gpu.launch.capture import Capture, capture
from racetrap.sim.gpu.launch.launch_arguments import BufferArgument, first_difference
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.ptx.module import Function, Module
from racetrap.sim.gpu.stress.subject import (
    Changes,
    Failure,
    Run,
    Subject,
    instruction_limit,
    settings_of,
)

__all__ = ["KernelSubject"]

#: Sequentially consistent runs whose results are taken to be right.
_SEQUENTIAL_RUNS = 10


@dataclass
class KernelSubject(Subject):
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

    @property
    def functions(self) -> Iterable[Function]:
        return self.module.functions.values()

    @cached_property
    def traces(self) -> Sequence[Trace]:
        schedules = range(_SEQUENTIAL_RUNS)
        return [capture(self.module, self.launch, schedule).trace for schedule in schedules]

    def run(self, memory: str, choices: Choices, changes: Changes | None = None) -> Run:
        settings = settings_of(memory, choices, changes)
        limit = instruction_limit(self._longest)
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
