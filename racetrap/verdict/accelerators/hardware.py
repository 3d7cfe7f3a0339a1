"""The generated bus monitor on whole traces, each step compared with the golden model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import MonitorStep, bus_operation, rules_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.races import MonitorRace
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.noncoherent.fast_compare import check_run
from racetrap.sim.cosim.noncoherent.fast_simulation import FastSim

#: Operations of a run; the ring is read after each.
_RUN = 2000
_CAPACITY_LOG2 = 10


@dataclass(frozen=True)
class SimulatedTrace:
    """Amounts of a trace on the hardware; everything was compared with the golden model.

    Parameters
    ----------
    rows, cycles, compactions : int
        Rows checked, clock cycles, and how often a set ran out of entries.
    """

    rows: int
    cycles: int
    compactions: int


def check_memory(params: NoncoherentParams, trace: NoncoherentTrace) -> None:
    """Raise ``ValueError`` unless a monitor is for the hardware of a trace."""
    own, wanted = asdict(params.memory), asdict(trace.header.memory)
    settings = [
        f"--set {name}={str(value).lower()}" for name, value in wanted.items() if own[name] != value
    ]
    if settings:
        raise ValueError(f"Memory system differs from the trace's ({' '.join(settings)})")


def simulate_trace(
    model: FastModel[NoncoherentParams], trace: NoncoherentTrace, seed: int,
    found: Callable[[MonitorRace], object],
) -> SimulatedTrace:  # fmt: skip
    """Play a trace; ``found`` receives every race of the hardware's steps.

    Parameters
    ----------
    model : FastModel
        The hardware.
    trace : NoncoherentTrace
        Operations to check.
    seed : int
        Seed of the simulation's randomness (unreset state).
    found : callable
        Receives races, in order.

    Raises
    ------
    ValueError
        If the trace does not fit the parameters.
    Mismatch
        If hardware and golden model differ anywhere.
    SimulationError
        If the simulation cannot continue.
    """
    params, monitor = model.params, Monitor(model.params)
    operations = [bus_operation(params, number, one) for number, one in enumerate(trace)]
    rows = cycles = 0
    with FastSim(model, seed) as sim:
        sim.start(_CAPACITY_LOG2)
        for start in range(0, len(operations), _RUN):
            result = check_run(sim, monitor, params, operations[start : start + _RUN])
            rows += result.rows
            cycles += result.cycles
            for race in races_of(params, result.steps, start):
                found(race)
    return SimulatedTrace(rows, cycles, monitor.compactions)


def races_of(
    params: NoncoherentParams, steps: tuple[MonitorStep, ...], start: int
) -> Iterator[MonitorRace]:
    """Races of the steps of a run whose first operation has the number ``start``."""
    wrap = 1 << params.tag_bits
    later = start
    for step in steps:
        # Tags are numbers of operations, which may wrap.
        later += (step.row.tag - later) % wrap
        for rule, hit in rules_of(step):
            earlier = later - (later - hit.tag) % wrap
            bytes_ = step.row.first, step.row.end - 1
            yield MonitorRace(rule, later, earlier, bool(hit.definite), bool(hit.others), *bytes_)
