"""The generated hardware on whole traces, each step compared with the golden model.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.region import bank_of
from racetrap.golden_model.hirace.lane_splitter import split_lanes
from racetrap.golden_model.hirace.packets import Step, TransactionKind
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.hirace.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.hirace.fast_simulation import FastSim
from racetrap.verdict.gpu.findings import Finding
from racetrap.verdict.gpu.fit import kernels_of, region_with_window
from racetrap.verdict.gpu.simulated_trace import KernelRun, SimulatedTrace, join_kernels
from racetrap.verdict.hirace.findings import HiraceFinder

_CAPACITY_LOG2 = 12


def simulate_trace(
    model: FastModel[HiraceParams],
    trace: Trace,
    seed: int,
    found: Callable[[Finding], object],
) -> SimulatedTrace:
    """Play a trace, kernel by kernel, in its global order.

    Parameters
    ----------
    model : FastModel
        The hardware.
    trace : Trace
        Run to check.
    seed : int
        Seed of the simulation's randomness (unreset state).
    found : callable
        Receives every race of the hardware's steps with both its accesses.

    Raises
    ------
    Mismatch
        If hardware and golden model differ anywhere.
    SimulationError
        If the simulation cannot continue.
    """
    params, region = model.params, region_with_window(trace, model.params)

    def kernels() -> Iterator[KernelRun]:
        with FastSim(model, seed) as sim:
            for events in kernels_of(trace):
                yield sim, events, check_launch(
                    sim, params, region, transactions_of(events, params),
                    in_order=True, capacity_log2=_CAPACITY_LOG2,
                )  # fmt: skip

    return join_kernels(kernels(), HiraceFinder(params, region, trace), _steps_of_event, found)


def _steps_of_event(
    event: Event, params: HiraceParams, banks: Sequence[Iterator[Step]]
) -> list[Step]:
    words = [
        transaction.word + offset
        for transaction in split_lanes(event, params)
        if transaction.kind <= TransactionKind.ATOMIC
        for offset in range(transaction.more + 1)
    ]
    return [next(banks[bank_of(params, word)]) for word in words]
