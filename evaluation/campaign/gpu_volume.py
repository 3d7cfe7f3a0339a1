"""Random tests of GPU detectors: what their cases share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeVar

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.gpu.valid_table import is_covered
from racetrap.golden_model.layout import index_bits
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.register_exercise import exercise_registers
from racetrap.sim.cosim.gpu.launch_result import LaunchResult
from racetrap.sim.cosim.gpu.refused_launch import refuse_launches
from racetrap.sim.cosim.gpu.sweep import is_swept
from racetrap.sim.cosim.gpu.tile_places import TilePlaces

#: Approximate number of accesses in the first launch of a case, and in the second.
ACCESSES = (16_000, 4_000)
#: The same of a launch amid transactions, with those before it.
AMID_ACCESSES = 1_000
#: Fraction of the regions with any size that the parameters allow.
ANY_SIZE = 0.25
#: Fraction of the regions whose metadata end where the address space does.
_AT_END = 0.25
#: Fraction of the launches after which no reset comes amid transactions.
_NO_RESET = 0.25
#: Only one of so many accesses is made in order: each then waits for the one before.
_IN_ORDER_SHARE = 8
#: Log2 of the largest region of most launches.
_SMALL_LOG2 = 14
#: Segments of each port that a launch writes in more cycles than software takes to read a register.
_SEEN_BUSY = 64
#: The same of short launches, at most.
_SHORT = 4096
#: Fraction of the resets after which transactions come before the launch.
_IGNORED = 0.5
#: Cycles of transactions before a launch or a reset amid them.
_AMID_CYCLES = (1, 5, 20, 150, 1000)
#: Fraction of the launches whose last transactions never come, and the most of these.
_CUT, _MOST_CUT = 0.5, 64
#: Cycles that a report takes now and then, into a ring of so few records that this does not last.
_RING_LATENCY, _SMALL_RING_LOG2 = 200, 6
#: Longer than packets take through all queues between tiles, in cycles.
LATE = 100_000
#: What a launch counts besides cycles.
FIGURES = ("accesses", "races")

T = TypeVar("T")


def random_region(random: Random, params: GpuParams) -> Region:
    """A region anywhere but at the very end, which accesses may run past, and its metadata, which
    often end there."""
    low = params.min_region_log2
    described = params.address_bits + params.entry_share_log2 - index_bits(params.entry_bytes)
    high = min(params.max_region_log2, params.address_bits - 1, described)
    size_log2 = random.randint(low, max(low, _SMALL_LOG2))
    if random.random() < ANY_SIZE:
        size_log2 = random.randint(max(low, high - 3) if random.random() < 0.5 else low, high)
    data_base = random.randrange((1 << params.address_bits - size_log2) - 1) << size_log2
    metadata_bytes = params.entry_bytes * Region(data_base, size_log2).entries(params)
    room = ((1 << params.address_bits) - metadata_bytes) // params.segment_bytes
    place = room if random.random() < _AT_END else random.randrange(room + 1)
    return Region(data_base, size_log2, params.segment_bytes * place)


def launch_options(random: Random, may_be_in_order: bool = True) -> Mapping[str, Any]:
    """Options of a launch: order, what SMs offer meanwhile, size of the ring, report filter."""
    in_order = random.random() < 0.25 and may_be_in_order
    return {
        "in_order": in_order,
        "waiting": not in_order and random.random() < 0.5,
        "capacity_log2": random.choice((2, 6, 16)),
        "report_filter": random.random() < 0.25,
    }


def launches_amid(model: FastModel[Any], region: MonitoredRegion) -> int:
    """Number of launches in a region that begin amid transactions.

    They must last so long that software sees the hardware busy after these are done; more of them
    are made if they are short.
    """
    params, places = model.params, model.places
    segments = region.entries(params) // (params.words_per_cycle * params.metadata_ports)
    if not is_swept(params, region) or is_covered(params, region) or segments < _SEEN_BUSY:
        return 0
    return 0 if places is not None and not places.are_all else 4 if segments <= _SHORT else 1


def reset_amid(sim: Any, random: Random, transactions: Sequence[tuple[int, Any]]) -> None:
    """Perhaps reset the hardware while it plays transactions, if there are any, and perhaps let it
    ignore them then; a launch must follow."""
    if not transactions or random.random() < _NO_RESET:
        return
    played = [each for each in transactions if sim.may_come_first(each[1])]
    sim.reset_after(sim.queues(played), random.choice(_AMID_CYCLES))
    if random.random() < _IGNORED:
        sim.ignore(sim.queues(transactions))


def amid_options(random: Random) -> Mapping[str, Any]:
    """Options of a launch amid transactions."""
    return {"amid": random.choice(_AMID_CYCLES)}


def without_errors(timing: MemoryTiming) -> MemoryTiming:
    """The same timing with memories that answer without errors.

    Those before a launch amid transactions are not counted, and a model of the cycles has none.
    """
    return replace(timing, read_errors=0, write_errors=0)


def cut_short(random: Random, transactions: Sequence[T]) -> Sequence[T]:
    """The transactions, perhaps without the last ones: what is then on its way is all that keeps
    the hardware from being idle."""
    if random.random() < _CUT:
        return transactions[: max(1, len(transactions) - random.randrange(1, _MOST_CUT))]
    return transactions


def memory_timing(
    random: Random, places: TilePlaces | None = None, capacity_log2: int | None = None
) -> MemoryTiming:
    """From the fastest memory to one that answers late, out of order and with errors; reports into
    a small ring of ``capacity_log2`` may be later still.

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
    if capacity_log2 is not None and capacity_log2 <= _SMALL_RING_LOG2 and random.random() < 0.5:
        timing = replace(timing, ring_latency=_RING_LATENCY)
    if random.random() < 0.25:
        return replace(timing, read_errors=random.choice((20, 2000)), write_errors=500)
    return timing


@dataclass(frozen=True)
class LaunchCases:
    """Cases of two launches of random events, which a call plays, with resets amid transactions;
    and of further ones amid transactions, in the region of the second, if that is neither very
    small nor large.

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
    late_of : callable
        From a style to the further cycles that reads at odd metadata ports take.
    """

    simulation: Callable[..., Any]
    check_launch: Callable[..., LaunchResult]
    transactions_of: Callable[..., Any]
    random_events: Callable[..., Any]
    styles: Mapping[str, Any]
    share: int = 1
    at_tiles: Callable[..., Any] | None = None
    late_of: Callable[[Any], int] = lambda style: 0

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
        # In order, all SMs must be ready for the next transaction.
        has_all = places is None or places.are_all
        style = list(self.styles.values())[number % len(self.styles)]
        with self.simulation(model, random.getrandbits(63)) as sim:
            transactions: Sequence[Any] = ()
            for accesses in ACCESSES:
                reset_amid(sim, random, transactions)
                region = random_region(random, params)
                if observer is not None:
                    observer.launch(region)
                seed, options = random.getrandbits(32), launch_options(random, has_all)
                timing = memory_timing(random, places, options["capacity_log2"])
                sim.timing = replace(timing, odd_latency=self.late_of(style))
                if options["in_order"]:
                    accesses //= _IN_ORDER_SHARE
                exercise_registers(sim, random)
                refuse_launches(sim, params, region, random)
                transactions = cut_short(
                    random, self._transactions(model, region, style, seed, accesses)
                )
                yield self.check_launch(
                    sim, params, region, transactions, **options, observer=observer
                )
            for _ in range(launches_amid(model, region)):
                sim.timing = without_errors(sim.timing)
                if observer is not None:
                    observer.launch(region)
                seed = random.getrandbits(32)
                transactions = self._transactions(model, region, style, seed, AMID_ACCESSES)
                yield self.check_launch(
                    sim, params, region, transactions, **amid_options(random), observer=observer
                )

    def _transactions(
        self, model: FastModel[Any], region: Region, style: Any, seed: int, accesses: int
    ) -> Any:
        """Random transactions for the SMs that are there."""
        places = model.places
        # An access with n lanes at most gives about n/2 accesses to words.
        instructions = 2 * accesses // (self.share * (style.lanes + 1))
        if places is None or self.at_tiles is None:
            events = self.random_events(model.params, region, style, seed, instructions)
            return self.transactions_of(events, model.params)
        playing = places.playing
        events = self.random_events(playing, places.drawn(region), style, seed, instructions)
        return list(self.at_tiles(self.transactions_of(events, playing), places, region))
