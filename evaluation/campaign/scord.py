"""Random volume for ScoRD: cases of two launches.

Stimulus, timing of the memories, region and report ring are drawn anew for each case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Protocol

from racetrap.golden_model.scord.params import LINE_BYTES, Region, ScordParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.scord.fast_compare import LaunchResult, check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.scord.scoreboard import Observer

__all__ = ["LaunchObserver", "play"]

#: About so many accesses in the first launch of a case, and in the second.
_ACCESSES = (16_000, 4_000)


class LaunchObserver(Observer, Protocol):
    """An observer that wants to know of launches, too."""

    def launch(self, region: Region) -> None:
        """A kernel was launched with this region."""


def play(
    model: FastModel[ScordParams], number: int, random: Random, observer: LaunchObserver | None
) -> Iterator[dict[str, int]]:
    """Play the launches of case ``number``; gives what each compared.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot go on.
    """
    with FastSim(model, random.getrandbits(63), _timing(random)) as sim:
        for accesses in _ACCESSES:
            result = _launch(sim, model.params, number, random, accesses, observer)
            yield {name: getattr(result, name) for name in ("accesses", "races", "cycles")}


def _timing(random: Random) -> MemoryTiming:
    """From the fastest memory to one that answers late, out of order and with errors."""
    timing = MemoryTiming(
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
    sim: FastSim, params: ScordParams, number: int, random: Random, accesses: int,
    observer: LaunchObserver | None,
) -> LaunchResult:  # fmt: skip
    region = _region(random, params)
    knobs = list(KNOBS.values())[number % len(KNOBS)]
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
