"""Random volume for HiRace: cases of two launches.

Stimulus, timing of the memories, region and report ring are drawn anew for each case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Protocol

from racetrap.evaluation.campaign.random_volume import RandomVolume
from racetrap.golden_model.gpu.params import ENTRY_BYTES
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.hirace.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.hirace.fast_simulation import FastSim
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events
from racetrap.sim.cosim.hirace.scoreboard import Observer

__all__ = ["RANDOM_VOLUME", "LaunchObserver", "play"]

#: About so many accesses in the first launch of a case, and in the second.
_ACCESSES = (16_000, 4_000)
#: Log2 of the largest region of most launches.
_SMALL_LOG2 = 14
_ANY_SIZE = 0.25


class LaunchObserver(Observer, Protocol):
    """An observer that wants to know of launches, too."""

    def launch(self, region: Region) -> None:
        """A kernel was launched with this region."""


def play(
    model: FastModel[HiraceParams], number: int, random: Random, observer: LaunchObserver | None
) -> Iterator[dict[str, int]]:
    """Play the launches of case ``number``; gives what each compared.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot go on.
    """
    params = model.params
    style = list(STYLES.values())[number % len(STYLES)]
    with FastSim(model, random.getrandbits(63), _timing(random)) as sim:
        for accesses in _ACCESSES:
            region = _region(random, params)
            # An access with n lanes at most gives about n/2 accesses to words.
            instructions = 2 * accesses // (style.lanes + 1)
            if observer is not None:
                observer.launch(region)
            events = random_events(params, region, style, random.getrandbits(32), instructions)
            result = check_launch(
                sim, params, region, transactions_of(events, params),
                in_order=random.random() < 0.25, capacity_log2=random.choice((2, 6, 16)),
                report_filter=random.random() < 0.25, observer=observer,
            )  # fmt: skip
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


def _region(random: Random, params: HiraceParams) -> Region:
    """A region anywhere that it fits in the lower half of the address space."""
    low = params.min_region_log2
    high = min(params.max_region_log2, params.address_bits - 1) - 3
    size_log2 = random.randint(low, max(low, _SMALL_LOG2))
    if random.random() < _ANY_SIZE:
        size_log2 = random.randint(low, max(low, high))
    data_base = random.randrange(1 << params.address_bits - 1 - size_log2) << size_log2
    entries = Region(data_base, size_log2).entries(params)
    room = (1 << params.address_bits - 1) // ENTRY_BYTES - entries
    return Region(data_base, size_log2, ENTRY_BYTES * random.randrange(room))


RANDOM_VOLUME = RandomVolume(play, ("accesses", "races"))
