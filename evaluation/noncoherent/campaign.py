"""Random tests of the bus monitor: cases of some runs.

Between the runs of a case software forgets all operations, or does not, and switches checking off
and on.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from racetrap.evaluation.campaign.random_volume import RandomVolume
from racetrap.golden_model.noncoherent.axi_monitor import AxiMonitor
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.register_exercise import exercise_registers
from racetrap.sim.cosim.noncoherent.coverage import Coverage
from racetrap.sim.cosim.noncoherent.fast_compare import RunResult, check_bus_run, check_run
from racetrap.sim.cosim.noncoherent.fast_simulation import BusPlay, FastSim
from racetrap.sim.cosim.noncoherent.random_bursts import random_bursts
from racetrap.sim.cosim.noncoherent.random_bus_operations import random_bus_operations

_RUNS = 12
_OPERATIONS = 1000
_BURSTS = 1000
#: Lines of memory that the operations of a run are on; few for many races, many for full sets.
_LINES = (2, 8, 64, 512)


def play(
    model: FastModel[NoncoherentParams], number: int, random: Random, observer: Coverage | None
) -> Iterator[RunResult]:
    """Play the runs of case ``number``; gives what each compared.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    params, listener = model.params, AxiMonitor(model.params)
    with FastSim(model, random.getrandbits(63), _timing(random)) as sim:
        for run in range(_RUNS):
            monitor = Monitor(params)
            exercise_registers(sim, random)
            sim.start(random.choice((2, 10)))
            lines = _LINES[(number + run) % len(_LINES)]
            operations = _operations(params, random, lines)
            if params.observes_bus:
                bus = _bus(params, random, lines)
                result = check_bus_run(sim, monitor, listener, params, operations, bus, observer)
            else:
                result = check_run(sim, monitor, params, operations)
            if observer is not None:
                observer.operations(operations)
                observer.steps(result.steps)
                observer.entries(monitor)
            yield result


def _operations(params: NoncoherentParams, random: Random, lines: int) -> list[BusOperation]:
    """Operations at the start of memory, at its end, or where a window begins or ends."""
    size = min(lines * params.line_bytes, 1 << (params.address_bits - 1))
    last = (1 << params.address_bits) - size
    edges = (params.window_base, params.window_base + params.window_bytes)
    half = params.line_bytes * (lines // 2)
    base = random.choice(
        (0, last, *(min(max(edge - half, 0), last) for edge in edges if params.window_bytes))
    )
    return random_bus_operations(random, params, _OPERATIONS, size, base)


def _bus(params: NoncoherentParams, random: Random, lines: int) -> BusPlay:
    """Bursts on the same lines, from one at a time to more than the queue takes."""
    bursts = random_bursts(random, params, _BURSTS, lines * params.line_bytes)
    return BusPlay(bursts, random.choice((1, 2, 8, 100)), random.choice((10, 50, 90, 100)))


def _timing(random: Random) -> MemoryTiming:
    """From a bus that never rests and memory that answers at once to slow ones."""
    return MemoryTiming(
        idle_percent=random.choice((0, 0, 20, 80)), latency=random.choice((1, 1, 30)),
        jitter=random.choice((0, 20)), back_pressure=random.choice((0, 50)),
        write_errors=random.choice((0, 0, 3000)),
    )  # fmt: skip


RANDOM_VOLUME = RandomVolume(
    play, ("operations", "rows", "races", "compactions", "bursts", "bursts_lost")
)
