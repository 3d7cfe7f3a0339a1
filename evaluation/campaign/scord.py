"""Random volume through hardware and golden model, in cases that can be rerun alone.

A case is one simulation after reset with two launches.  Everything about it (stimulus, timing
of the memories, region, report ring) follows from preset, seed and the case's number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

from racetrap.evaluation.campaign.cases import Case
from racetrap.golden_model.scord.params import LINE_BYTES, Region, ScordParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.fast_compare import LaunchResult, check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim, Timing
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.scord.scoreboard import Observer

__all__ = ["CaseResult", "LaunchObserver", "run_case"]

#: About so many accesses in the first launch of a case, and in the second.
_ACCESSES = (16_000, 4_000)


class LaunchObserver(Observer, Protocol):
    """An observer that wants to know of launches, too."""

    def launch(self, region: Region) -> None:
        """A kernel was launched with this region."""


@dataclass(frozen=True)
class CaseResult:
    """What a case compared.

    Parameters
    ----------
    case : Case
        The case.
    accesses, races, cycles : int
        Monitored accesses compared, races among them, clock cycles that they took.
    seconds : float
        Time for all of it, making the stimulus included.
    difference : str
        First difference in one sentence; empty if there is none.
    observer : LaunchObserver or None
        The observer of the run, with what it saw.
    """

    case: Case[ScordParams]
    accesses: int
    races: int
    cycles: int
    seconds: float
    difference: str
    observer: LaunchObserver | None

    @property
    def volume(self) -> int:
        """Accesses compared."""
        return self.accesses


def run_case(
    case: Case[ScordParams],
    make_observer: Callable[[ScordParams], LaunchObserver] | None = None,
) -> CaseResult:
    """Run one case; a difference is a result, not an exception.

    Parameters
    ----------
    case : Case
        The case.
    make_observer : callable or None
        Makes the receiver of functional coverage from the parameters.
    """
    observer = None if make_observer is None else make_observer(case.model.params)
    random = Random(f"{case.model.preset} {case.seed} {case.number}")
    started = time.perf_counter()
    results: list[LaunchResult] = []
    difference = ""
    with FastSim(case.model, random.getrandbits(63), _timing(random)) as sim:
        try:
            for accesses in _ACCESSES:
                results.append(_launch(sim, case, random, accesses, observer))
        except (Mismatch, SimulationError) as error:
            difference = str(error)
    return CaseResult(
        case,
        accesses=sum(result.accesses for result in results),
        races=sum(result.races for result in results),
        cycles=sum(result.cycles for result in results),
        seconds=time.perf_counter() - started,
        difference=difference,
        observer=observer,
    )


def _timing(random: Random) -> Timing:
    """From the fastest memory to one that answers late, out of order and with errors."""
    timing = Timing(
        idle_percent=random.choice((0, 0, 20, 60)),
        latency=random.choice((1, 1, 2, 4, 16, 60)),
        jitter=random.choice((0, 0, 3, 30)),
        reorder=random.random() < 0.5,
        back_pressure=random.choice((0, 0, 10, 50)),
    )
    if random.random() < 0.25:
        return replace(timing, read_errors=random.choice((20, 2000)), write_errors=500)
    return timing


def _region(random: Random, params: ScordParams) -> Region:
    """A region of up to 64 KiB, anywhere that it fits."""
    low = max(params.min_region_log2, LINE_BYTES.bit_length() - 1)
    size_log2 = random.randint(low, min(params.max_region_log2, max(low, 16)))
    # The lower half of the address space; the ring buffer has the upper one.
    data_base = random.randrange(1 << params.address_bits - 1 - size_log2) << size_log2
    metadata_base = 8 * random.randrange(1 << params.address_bits - 5)
    return Region(data_base, size_log2, metadata_base)


def _launch(
    sim: FastSim,
    case: Case[ScordParams],
    random: Random,
    accesses: int,
    observer: LaunchObserver | None,
) -> LaunchResult:
    params = case.model.params
    region = _region(random, params)
    knobs = list(KNOBS.values())[case.number % len(KNOBS)]
    # An access with n active lanes gives about n/2 accesses to words.
    instructions = 2 * accesses // (knobs.lanes + 1)
    events = random_events(params, region, knobs, random.getrandbits(32), instructions)
    if observer is not None:
        observer.launch(region)
    return check_launch(
        sim,
        params,
        region,
        transactions_of(events, params),
        in_order=random.random() < 0.25,
        capacity_log2=random.choice((2, 6, 16)),
        report_filter=random.random() < 0.25,
        observer=observer,
    )
