"""Rate of the executor: thread instructions a second on an ordinary kernel.

The kernel mixes arithmetic, loads, stores and branches that all threads of a warp take alike,
in full warps; recording is on.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from racetrap.evaluation.throughput.rates import timed
from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.parser import parse_ptx

#: Numbers of threads worth a measurement.
THREADS = (64, 256, 1024, 4096, 16384, 65536)

_WORDS = 1 << 16
_THREADS_PER_BLOCK = 256
#: Thread rounds at least, so that a measurement of few threads is not too short.
_LEAST_ROUNDS = 1 << 18
_FEWEST_ROUNDS = 8


class ExecutorRun(NamedTuple):
    """One measurement.

    Parameters
    ----------
    thread_instructions, events : int
        Instructions run, counted for each thread, and events recorded.
    seconds : float
        CPU time.
    """

    thread_instructions: int
    events: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Thread instructions a second."""
        return self.thread_instructions / self.seconds


def measure_executor(threads: int, *, independent_threads: bool = False) -> ExecutorRun:
    """Run the kernel once with so many threads, a multiple of 32, in blocks of at most 256."""
    device = Device(USUAL_GEOMETRY, independent_threads=independent_threads)
    block = min(threads, _THREADS_PER_BLOCK)
    source = device.allocate(np.arange(_WORDS, dtype=np.float32))
    target = device.allocate(4 * threads)
    rounds = max(_FEWEST_ROUNDS, _LEAST_ROUNDS // threads)
    kernel = files(__package__) / "rates.ptx"
    module = parse_ptx(kernel.read_text(encoding="ascii"), kernel.name)
    seconds, stats = timed(
        lambda: device.launch(module, "mix", threads // block, block, [source, target, rounds])
    )
    return ExecutorRun(stats.thread_instructions, stats.events, seconds)


def rates(*, independent_threads: bool = False) -> dict[int, float]:
    """Thread instructions a second by number of threads."""
    runs = {
        threads: measure_executor(threads, independent_threads=independent_threads)
        for threads in THREADS
    }
    return {threads: run.per_second for threads, run in runs.items()}
