"""Random traces of a GPU by kind: programs, runs, litmus kernels, and those free of races."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from random import Random

from racetrap.evaluation.scord import race_free_programs
from racetrap.golden_model.events import (
    ALL_LANES,
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    MemoryOrder,
    Scope,
    TraceHeader,
)
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError
from racetrap.golden_model.trace import Trace
from tests.support.causality.random_programs import RandomProgram
from tests.support.oracle.random_orders import with_random_orders, with_warp_barriers
from tests.support.oracle.random_traces import RandomRun
from tests.support.ptx_memory_model.interleavings import LeftOutError, interleavings
from tests.support.ptx_memory_model.random_tests import (
    random_barrier_kernel,
    random_fenced_kernel,
    random_flag_kernel,
    random_kernel,
)

_WRITERS = (random_kernel, random_fenced_kernel, random_barrier_kernel, random_flag_kernel)
#: Runs of a litmus kernel at most.
_MOST_RUNS = 5
#: Bytes from a word of a phase program to its counter.
_COUNTERS = 0x100
_RACE_FREE = TraceHeader(
    geometry=Geometry(sm_count=3, blocks_per_sm=3, warps_per_sm=9),
    region=DataRegion(data_base=0, size_log2=12), source="race-free program",
)  # fmt: skip


def random_program(seed: int) -> Iterator[Trace]:
    """A program that synchronises, right or nearly so."""
    yield RandomProgram(seed).trace()


def random_run(seed: int) -> Iterator[Trace]:
    """A random trace with orders and warp barriers, each instruction at a place of its own."""
    rng = Random(seed)
    run = RandomRun(rng, rng.choice((10, 30, 80)), own_pcs=True)
    trace = run.trace()
    # A fence at an access's place is the older way to name an order.
    places = {event.pc for event in trace if event.kind <= EventKind.ATOMIC}
    events = [event for event in trace if event.kind != EventKind.FENCE or event.pc not in places]
    trace = Trace.from_events(trace.header, events)
    if seed % 3:
        trace = with_random_orders(trace, rng)
    if seed % 5 > 2:
        trace = with_warp_barriers(trace, rng)
    header = replace(trace.header, independent_threads=seed % 2)
    yield Trace.from_events(header, list(trace))


def litmus_runs(seed: int) -> Iterator[Trace]:
    """Sequentially consistent runs of a random litmus kernel."""
    try:
        for run in islice(interleavings(_WRITERS[seed % len(_WRITERS)](seed)), _MOST_RUNS):
            yield run.trace
    except (LeftOutError, LitmusError):
        return


def race_free_program(kind: str, seed: int) -> Iterator[Trace]:
    """A program of ScoRD's race-free families, each instruction at a place of its own."""
    made = list(race_free_programs.KINDS[kind](seed))
    if kind == "phase":
        made = list(_with_messages(made))
    warps: dict[tuple[int, int], list[int]] = {}
    for event in made[1:]:
        warps.setdefault((event.sm, event.slot), []).append(event.warp)
    placed = [
        Event(
            EventKind.BLOCK_PLACED, *place, min(used), warp_count=max(used) - min(used) + 1,
            grid_block=number, mask=ALL_LANES,
        )
        for number, (place, used) in enumerate(sorted(warps.items()))
    ]  # fmt: skip
    accesses = [event._replace(pc=0x1000 + 8 * number) for number, event in enumerate(made[1:])]
    retired = [Event(EventKind.BLOCK_RETIRED, *place) for place in sorted(warps)]
    events = [made[0], *placed, *accesses, *retired, Event(EventKind.KERNEL_END)]
    yield Trace.from_events(_RACE_FREE, events)


def _with_messages(phases: Iterable[Event]) -> Iterator[Event]:
    """Phases whose order the program itself makes: their fences alone tell a later owner nothing.

    Each word has a counter.  A warp adds to those of its words behind its fences, and adds and
    acquires before each access.
    """
    words: defaultdict[tuple[int, int, int], set[int]] = defaultdict(set)
    for event in phases:
        used = words[event.sm, event.slot, event.warp]
        if event.kind <= EventKind.STORE:
            used.add(address := event.lanes[0].address)
            yield _count(event, address)
            yield event._replace(
                kind=EventKind.FENCE, order=MemoryOrder.ACQUIRE, mask=1, size=0, lanes=(),
                strong=False,
            )  # fmt: skip
        yield event
        if event.kind == EventKind.FENCE:
            for address in sorted(used):
                yield _count(event, address)


def _count(event: Event, address: int) -> Event:
    """An addition by an event's warp to the counter of a word."""
    lanes = (Lane(0, address + _COUNTERS),)
    return Event(
        EventKind.ATOMIC, event.sm, event.slot, event.warp, Scope.DEVICE, strong=True,
        op=AtomicOp.OTHER, size=WORD_BYTES, lanes=lanes,
    )  # fmt: skip


#: Traces of a seed, by kind.
SOURCES: dict[str, Callable[[int], Iterator[Trace]]] = {
    "random programs": random_program,
    "random runs": random_run,
    "litmus kernels": litmus_runs,
    "lock programs": lambda seed: race_free_program("lock", seed),
    "phase programs": lambda seed: race_free_program("phase", seed),
}
