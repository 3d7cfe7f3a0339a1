"""Random tests of GPU detectors: what their cases share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.layout import index_bits
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.register_exercise import exercise_registers
from racetrap.sim.cosim.gpu.launch_result import LaunchResult
from racetrap.sim.cosim.gpu.refused_launch import refuse_launches
from racetrap.sim.cosim.gpu.tile_places import TilePlaces

#: Approximate number of accesses in the first launch of a case, and in the second.
ACCESSES = (16_000, 4_000)
#: Fraction of the regions with any size that the parameters allow.
ANY_SIZE = 0.25
#: Only one of so many accesses is made in order: each then waits for the one before.
_IN_ORDER_SHARE = 8
#: Log2 of the largest region of most launches.
_SMALL_LOG2 = 14
#: Longer than packets take through all queues between tiles, in cycles.
LATE = 100_000
#: What a launch counts besides cycles.
FIGURES = ("accesses", "races")


def random_region(random: Random, params: GpuParams) -> Region:
    """A region anywhere but at the very end, which accesses may run past, and its metadata."""
    low = params.min_region_log2
    described = params.address_bits - 2 + params.entry_share_log2 - index_bits(params.entry_bytes)
    high = min(params.max_region_log2 - 3, params.address_bits - 4, described)
    size_log2 = random.randint(low, max(low, _SMALL_LOG2))
    if random.random() < ANY_SIZE:
        size_log2 = random.randint(low, max(low, high))
    data_base = random.randrange((1 << params.address_bits - size_log2) - 1) << size_log2
    metadata_bytes = params.entry_bytes * Region(data_base, size_log2).entries(params)
    room = ((1 << params.address_bits) - metadata_bytes) // params.segment_bytes
    return Region(data_base, size_log2, params.segment_bytes * random.randrange(room + 1))


def launch_options(random: Random, may_be_in_order: bool = True) -> Mapping[str, Any]:
    """Options of a launch: order, what SMs offer meanwhile, size of the ring, report filter."""
    in_order = random.random() < 0.25 and may_be_in_order
    return {
        "in_order": in_order,
        "waiting": not in_order and random.random() < 0.5,
        "capacity_log2": random.choice((2, 6, 16)),
        "report_filter": random.random() < 0.25,
    }


def memory_timing(random: Random, places: TilePlaces | None = None) -> MemoryTiming:
    """From the fastest memory to one that answers late, out of order and with errors.

    Between tiles, nothing may happen for a longer time.
    """
    timing = MemoryTiming(
        idle_percent=random.choice((0, 0, 20, 60)),
        latency=random.choice((1, 1, 2, 4, 16, 60)),
        jitter=random.choice((0, 0, 3, 30)),
        reorder=random.random() < 0.5,
        back_pressure=random.choice((0, 0, 10, 50)),
    )
    if places is not None:
        timing = replace(timing, watchdog=LATE)
    if random.random() < 0.25:
        return replace(timing, read_errors=random.choice((20, 2000)), write_errors=500)
    return timing


@dataclass(frozen=True)
class TwoLaunches:
    """Cases of two launches of random events, which a call plays.

    Parameters
    ----------
    simulation : callable
        The detector's ``FastSim``.
    check_launch, transactions_of, random_events : callable
        The detector's functions of these names.
    styles : mapping
        Styles of its random events by name; cases take turns.
    share : int
        Only one of so many accesses is made.
    at_tiles : callable or None
        The detector's function of this name, if it has tiles.
    """

    simulation: Callable[..., Any]
    check_launch: Callable[..., LaunchResult]
    transactions_of: Callable[..., Any]
    random_events: Callable[..., Any]
    styles: Mapping[str, Any]
    share: int = 1
    at_tiles: Callable[..., Any] | None = None

    def __call__(
        self, model: FastModel[Any], number: int, random: Random, observer: Any
    ) -> Iterator[LaunchResult]:
        """Play the launches of case ``number``; gives what each compared.

        Raises
        ------
        Mismatch
            If hardware and golden model differ.
        SimulationError
            If the simulation cannot continue.
        """
        params, places = model.params, model.places
        playing = params if places is None else places.playing
        # In order, all SMs must be ready for the next transaction.
        has_all = places is None or places.are_all
        style = list(self.styles.values())[number % len(self.styles)]
        timing = memory_timing(random, places)
        with self.simulation(model, random.getrandbits(63), timing) as sim:
            for accesses in ACCESSES:
                region = random_region(random, params)
                # An access with n lanes at most gives about n/2 accesses to words.
                instructions = 2 * accesses // (self.share * (style.lanes + 1))
                if observer is not None:
                    observer.launch(region)
                seed, options = random.getrandbits(32), launch_options(random, has_all)
                if options["in_order"]:
                    instructions //= _IN_ORDER_SHARE
                exercise_registers(sim, random)
                refuse_launches(sim, params, region, random)
                events = self.random_events(playing, region, style, seed, instructions)
                transactions = self.transactions_of(events, playing)
                if self.at_tiles is not None and places is not None:
                    transactions = self.at_tiles(transactions, places)
                yield self.check_launch(
                    sim, params, region, transactions, **options, observer=observer
                )
