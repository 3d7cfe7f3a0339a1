"""A kernel with its launches as a subject of stress, and its right results.

Ref: Bugaroo Sections III-D and IV-B.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.ptx_memory_model.operational import (
    Choices,
    Execution,
    InOrder,
    Kind,
    RandomChoices,
    ReplayedChoices,
)
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings
from racetrap.sim.gpu.launch.capture import Capture, capture
from racetrap.sim.gpu.launch.launch_arguments import BufferArgument, first_difference
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.stress.shared_words import shared_words
from racetrap.sim.gpu.stress.subject import (
    Changes,
    Failure,
    Run,
    Subject,
    instruction_limit,
    settings_of,
)

#: Sequentially consistent runs that must be right, and whose results are if nothing is expected.
_SEQUENTIAL_RUNS = 10
#: Further runs that are made, for their results, before one is called wrong that those have not.
_MORE_RUNS = 100
#: PTX's memory model.
_PTX = "views"
#: Digests of all buffers.
Result = tuple[bytes, ...]


@dataclass
class KernelSubject(Subject):
    """A kernel file with a launch file.

    Parameters
    ----------
    module : Module
        The kernels.
    launch : LaunchSpec
        Their launches, with lanes in lockstep unless they say otherwise; the expected contents of
        buffers define right results.
    expected : mapping of int or str to ndarray
        Expected contents of further buffers, by name or number of the argument. If nothing is
        expected at all, the results of sequentially consistent runs are right: of those made, and
        of each run by a memory model that turns out to be one.
    """

    module: Module
    launch: LaunchSpec
    expected: Mapping[int | str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        independent = bool(self.launch.independent_threads)
        self.launch = self.launch.model_copy(update={"independent_threads": independent})
        arguments = [argument for _, table in self.launch.launches for argument in table.arguments]
        buffers: list[object] = [*arguments, *self.launch.buffers]
        self._expects = bool(self.expected) or any(
            isinstance(buffer, BufferArgument) and buffer.expected is not None for buffer in buffers
        )
        #: Digests of the results that sequentially consistent runs give, if nothing is expected.
        self._results: set[Result] = set()
        self._longest = 0
        self.functions = self.module.functions.values()
        self.traces: list[Trace] = []
        for schedule in range(_SEQUENTIAL_RUNS):
            run = capture(self.module, self.launch, schedule)
            self.traces.append(run.trace)
            self._longest = max(self._longest, run.stats.warp_instructions)
            wrong = str(run.fault or "") or "; ".join(self._differences(run))
            self.demand_right("Kernel", wrong)
            self._results.add(_result(run))
        #: Whether more sequentially consistent runs were made than these.
        self._has_searched = False
        self._shared = shared_words(self.traces, independent)
        self.demand_right("Kernel", self.run(_PTX, InOrder()).sentence)

    def _differences(self, run: Capture) -> list[str]:
        found = list(run.differences)
        for name, wanted in self.expected.items():
            if name not in run.buffers:
                raise ValueError(unknown_name("buffer", name, run.buffers))
            contents = run.buffers[name]
            if wanted.size != contents.size:
                raise ValueError(
                    f"Expected contents of buffer {name} must be {contents.size} numbers, "
                    f"not {wanted.size}"
                )
            if difference := first_difference(contents, wanted.ravel()):
                found.append(f"Buffer {name} must have {difference}")
        return found

    def run(self, memory: str, choices: Choices, changes: Changes | None = None) -> Run:
        failure, sentence, result = None, "", None
        try:
            run = self._capture(settings_of(memory, choices, changes, self._shared))
        except ExecutionError as error:
            failure, sentence = Failure.HANG, str(error)
        else:
            if run.fault is not None:
                hangs = run.fault.fault is Fault.NO_END
                failure, sentence = Failure.HANG if hangs else Failure.FAULT, str(run.fault)
            elif differences := self._differences(run):
                failure, sentence = Failure.RESULT, "; ".join(differences)
            elif not self._expects and not self._is_sequential(memory, choices, changes, run):
                failure, sentence, result = Failure.RESULT, self._unlike(run), _result(run)
        return Run(failure, sentence, tuple(choices.deviations), result)

    def fails(self, run: Run) -> bool:
        return super().fails(run) and run.result not in self._results

    def _capture(self, settings: WeakMemorySettings) -> Capture:
        limit = instruction_limit(self._longest)
        return capture(self.module, self.launch, memory=settings, instruction_limit=limit)

    # Results of sequentially consistent runs

    def _is_sequential(
        self, memory: str, choices: Choices, changes: Changes | None, run: Capture
    ) -> bool:
        """Whether a sequentially consistent run gives the result of a run as well: it is one
        itself, or others do that are known, or found now."""
        result = _result(run)
        if result in self._results:
            return True
        if self._add_if_sequential(memory, ReplayedChoices(choices.deviations), changes):
            return True
        if not self._has_searched:
            self._has_searched = True
            for seed in range(1, _MORE_RUNS + 1):
                # Warps alone deviate in every other run, which is sequentially consistent then.
                rates = random_rates(seed)
                turns = dict.fromkeys(rates, 0.0) | {Kind.TURN: rates[Kind.TURN]}
                self._add_if_sequential(_PTX, RandomChoices(seed, turns if seed % 2 else rates))
        return result in self._results

    def _add_if_sequential(
        self, memory: str, choices: Choices, changes: Changes | None = None
    ) -> bool:
        """Run, and add what a sequentially consistent run gives to the right results; whether it
        was one."""
        executions: list[Execution] = []
        settings = settings_of(memory, choices, changes, self._shared, executions)
        try:
            run = self._capture(settings)
        except ExecutionError:
            return False
        found = run.fault is None and all(each.is_sequentially_consistent() for each in executions)
        if found:
            self._results.add(_result(run))
        return found

    def _unlike(self, run: Capture) -> str:
        """What no sequentially consistent run known gives, in a sentence."""
        others = [
            str(name) for number, name in enumerate(run.buffers)
            if all(_result(run)[number] != known[number] for known in self._results)
        ]  # fmt: skip
        buffers = f"Buffer {', '.join(others)}" if others else "Buffers together"
        return f"{buffers}: contents that no sequentially consistent run gives"


def _result(run: Capture) -> Result:
    return tuple(
        blake2b(values.tobytes(), digest_size=16).digest() for values in run.buffers.values()
    )
