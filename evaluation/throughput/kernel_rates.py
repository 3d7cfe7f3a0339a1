"""Speed of the executor and of the oracles on real kernels, in seconds of the processor.

Ref: BARRACUDA (PLDI'17) Section 6.2 (what an analysis costs).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

from racetrap.evaluation.scord.programs import GEOMETRY
from racetrap.evaluation.throughput.executor_rates import THREADS, measure_rate
from racetrap.golden_model.barracuda import Barracuda, ScopedOracle
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.workloads.registry import WORKLOADS

__all__ = ["ApplicationRate", "application_rates", "executor_rates"]

_SIZE = "small"
_SEED = 1


@dataclass(frozen=True)
class ApplicationRate:
    """Rates on the race-free build of one application.

    Parameters
    ----------
    name : str
        Application.
    events, operations : int
        Events of its trace, and thread-level operations that the oracles make of them.
    executor : float
        Events a second when it runs, host code included.
    barracuda, scoped : float
        Events a second of each oracle.
    """

    name: str
    events: int
    operations: int
    executor: float
    barracuda: float
    scoped: float


def executor_rates() -> dict[int, float]:
    """Thread instructions a second of the executor's own kernel, by number of threads."""
    return {threads: measure_rate(threads).per_second for threads in THREADS}


def application_rates() -> Iterator[ApplicationRate]:
    """Rates on each application in turn."""
    for name, workload in WORKLOADS.items():
        started = process_time()
        device = Device(GEOMETRY)
        workload.run(device, _SIZE, _SEED)
        trace = device.trace(name)
        times = [process_time()]
        counts = Barracuda().run(trace).counts
        times.append(process_time())
        ScopedOracle().run(trace)
        times.append(process_time())
        executor, barracuda, scoped = (
            len(trace) / (end - start) for start, end in zip([started, *times], times, strict=False)
        )
        yield ApplicationRate(name, len(trace), counts.operations, executor, barracuda, scoped)
