"""An application with race switches as a subject of stress: its own result must be NumPy's.

Ref: ScoRD (ISCA'20) Table VI.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.golden_model.ptx_memory_model.operational import Choices
from racetrap.sim.gpu.executor.device import Device, LaunchStats, Operation
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.executor.machine.launch import Launch
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings
from racetrap.sim.gpu.stress.shared_words import shared_words
from racetrap.sim.gpu.stress.subject import (
    Changes,
    Failure,
    Run,
    Subject,
    instruction_limit,
    settings_of,
)
from racetrap.sim.gpu.workloads.registry import WORKLOADS

_SIZE, _SEED = "tiny", 1
#: Sequentially consistent runs that are traced.
_SEQUENTIAL_RUNS = 10
#: The next operation of the default stream.
_NEXT = Operation()


class _Device(Device):
    """A device that counts the warp instructions of its launches."""

    executed = 0

    def run(self, launch: Launch, operation: Operation | None = _NEXT) -> LaunchStats:
        stats = super().run(launch, operation)
        self.executed += stats.warp_instructions
        return stats


class WorkloadSubject(Subject):
    """An application of the smallest size.

    Parameters
    ----------
    name : str
        Its name.
    switches : collection of str
        Names of the switches that are on.

    Raises
    ------
    ValueError
        If its result is wrong on sequentially consistent memory.
    """

    def __init__(self, name: str, switches: Collection[str]) -> None:
        self._workload, self._switches = WORKLOADS[name], switches
        device = _Device(USUAL_GEOMETRY)
        self.demand_right("Result", self._play(device))
        self._longest = device.executed
        self.functions = [each for module in device.modules for each in module.functions.values()]
        self.traces = [device.trace(name)]
        for seed in range(1, _SEQUENTIAL_RUNS):
            device = _Device(USUAL_GEOMETRY, scheduler="random", seed=seed)
            self._play(device)
            self.traces.append(device.trace(name))
        self._shared = shared_words(self.traces, False)

    def _play(self, device: Device) -> str:
        """Error in the result of a run, in a sentence."""
        workload, names = self._workload, [each.name for each in self._workload.switches]
        mask = sum(1 << names.index(name) for name in self._switches)
        generator = np.random.default_rng(_SEED)
        outcome = workload.play(device, workload.parameters[_SIZE], generator, mask)
        wrong = np.count_nonzero(outcome.found != outcome.expected)
        return f"{wrong} elements of the result are not NumPy's" if wrong else ""

    def run(self, memory: str, choices: Choices, changes: Changes | None = None) -> Run:
        settings: WeakMemorySettings = settings_of(memory, choices, changes, self._shared)
        limit = instruction_limit(self._longest)
        device = Device(USUAL_GEOMETRY, memory=settings, instruction_limit=limit)
        failure = None
        try:
            sentence = self._play(device)
            failure = Failure.RESULT if sentence else None
        except ExecutionError as error:
            sentence = str(error)
            hangs = not isinstance(error, KernelFault) or error.fault is Fault.NO_END
            failure = Failure.HANG if hangs else Failure.FAULT
        return Run(failure, sentence, tuple(choices.deviations))
