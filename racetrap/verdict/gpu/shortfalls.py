"""Shortfalls: what the two threads of a race do instead of ordering their accesses, in words.

They are read from the run, and told where no edit cures the race: a barrier that only one of the
threads comes to, two locks, two groups of lanes.

Ref: PTX ISA 9.0, Sections 8.7 (morally strong operations), 8.8 (release and acquire patterns) and
9.7.13 (barriers).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from racetrap.golden_model.barracuda.race import RaceClass
from racetrap.golden_model.events import BLOCK_BARRIERS, WARP_SIZE, EventKind, lanes_of
from racetrap.verdict.gpu.timelines import GpuTrack
from racetrap.verdict.line_pairs import LineRace
from racetrap.verdict.source_text import relative_place

#: Bytes of the smallest integer that atomics update; compare and swap takes half of that.
_ATOMIC = 4
_COMINGS = (EventKind.BARRIER_ARRIVE, *BLOCK_BARRIERS)
_BETWEEN_BLOCKS = (
    "put a barrier of the grid (`cooperative_groups::this_grid().sync()`) or the end of a launch "
    "between the two accesses, or write to another buffer"
)


def shortfall_of(race: LineRace, threads: Sequence[GpuTrack]) -> str:
    """Why two accesses are not ordered, and what would order them, in two clauses; empty if no more
    is known than what the race lacks.

    Parameters
    ----------
    race : LineRace
        The race.
    threads : sequence of GpuTrack
        Its threads, that of the earlier access first.
    """
    relation = RaceClass(race.relation)
    if relation is RaceClass.INTER_LAUNCH:
        return ""
    if sizes := _of_sizes(race, threads):
        return sizes
    accesses = race.earlier.access, race.later.access
    if relation is RaceClass.DIVERGENCE:
        return _of_lanes(threads, accesses)
    if relation is RaceClass.INTRA_BLOCK:
        return _of_warps(threads, accesses)
    if "owner" in race.details:
        return ""
    return _of_blocks(threads, accesses)


def _of_sizes(race: LineRace, threads: Sequence[GpuTrack]) -> str:
    """Of accesses whose sizes keep them from being morally strong, or atomic."""
    records = [thread.record(thread.access) for thread in threads]
    sizes = [int(record["size"]) for record in records]
    accesses = race.earlier.access, race.later.access
    if sizes[0] != sizes[1] and all(record["strong"] for record in records):
        first, second = map("the {} is of {}".format, accesses, map(_bytes, sizes))
        return f"{first}, {second}, and strong accesses of two sizes order nothing; use one size"
    is_update = set(accesses) == {"load", "store"} and race.earlier.place == race.later.place
    if is_update and max(sizes) < _ATOMIC:
        size = _bytes(max(sizes))
        loop = ", or a loop around `atomicCAS`" * (2 * max(sizes) == _ATOMIC)
        return f"no atomic updates an integer of {size}; use one of {_ATOMIC} bytes{loop}"
    return ""


def _of_lanes(threads: Sequence[GpuTrack], accesses: Sequence[str]) -> str:
    """Of two lanes of a warp."""
    lanes = [thread.thread % WARP_SIZE for thread in threads]
    does: list[str] = []
    barriers, sides = _barriers(threads, [EventKind.WARP_BARRIER])
    for thread, event, other in zip(threads, barriers, reversed(lanes), strict=True):
        if event is None:
            does.append("")
            continue
        mask = int(thread.record(event)["mask"])
        if mask >> other & 1:
            return ""
        does.append(f"waits for {_lanes(mask)} ({_place(thread, event)})")
    names = [f"lane {lane}" for lane in lanes]
    return _compared(names, accesses, does, sides, "one barrier must include both lanes")


def _of_warps(threads: Sequence[GpuTrack], accesses: Sequence[str]) -> str:
    """Of two warps of a block."""
    warps = [thread.thread // WARP_SIZE for thread in threads]
    does: list[str] = []
    barriers, sides = _barriers(threads, _COMINGS)
    for thread, event, other in zip(threads, barriers, reversed(warps), strict=True):
        if event is None:
            does.append("")
            continue
        record = thread.record(event)
        is_whole = record["kind"] == EventKind.BARRIER
        if is_whole or int(record["mask"]) >> other & 1:
            return ""
        waits = "arrives" if record["kind"] == EventKind.BARRIER_ARRIVE else "waits"
        does.append(f"{waits} at barrier {record['grid_block']} ({_place(thread, event)})")
    names = [f"warp {warp}" for warp in warps]
    return _compared(
        names,
        accesses,
        does,
        sides,
        "both must use one barrier, which counts the threads of both",
    )


def _compared(
    names: Sequence[str], accesses: Sequence[str], does: Sequence[str], sides: Sequence[str],
    remedy: str,
) -> str:  # fmt: skip
    """What two threads do, if at least one of them does something."""
    if not any(does):
        return ""
    told = [
        f"{name} {what or 'comes to no barrier'} {side} its {access}"
        for name, what, side, access in zip(names, does, sides, accesses, strict=True)
    ]
    return f"{told[0]}, {'and' if all(does) else 'but'} {told[1]}; {remedy}"


def _of_blocks(threads: Sequence[GpuTrack], accesses: Sequence[str]) -> str:
    """Of two blocks."""
    earlier, later = threads
    sent = {what: event for event in earlier.orders(True) if (what := earlier.sent(event))}
    received = {what: event for event in later.orders(False) if (what := later.received(event))}
    if sent.keys() & received:
        return ""
    writes, reads = (
        f"{thread.actor} {does} {_described(thread, event)} {side}" if event is not None else ""
        for thread, does, event, side in (
            (earlier, "writes", next(iter(sent.values()), None), f"after its {accesses[0]}"),
            (later, "reads", next(reversed(received.values()), None), f"before its {accesses[1]}"),
        )
    )
    if writes and reads:
        return f"{writes}, but {reads}; both must use one location, such as one lock"
    if writes:
        return f"{writes}, but {later.actor} never reads it; it must, and with acquire order"
    if reads:
        return f"{reads}, but {earlier.actor} never writes it; it must, and with release order"
    barriers = zip(threads, _barriers(threads, BLOCK_BARRIERS)[0], strict=True)
    places = [_place(thread, event) for thread, event in barriers if event is not None]
    does = (
        f"the barrier at {places[0]} orders the threads of one block only"
        if places
        else "the two blocks do not communicate"
    )
    return f"{does}; {_BETWEEN_BLOCKS}"


def _barriers(
    threads: Sequence[GpuTrack], kinds: Collection[EventKind]
) -> tuple[list[int | None], tuple[str, str]]:
    """The barrier that the first thread comes to next after its access, and the one that the second
    came to last before its own; if there is none, those beyond, which another schedule may put
    between.  Then on which side of their accesses these are."""

    def found(is_between: bool) -> list[int | None]:
        first, second = (
            [event for event in thread.orders(behind) if thread.record(event)["kind"] in kinds]
            for thread, behind in zip(threads, (is_between, not is_between), strict=True)
        )
        if not is_between:
            first.reverse()
            second.reverse()
        return [next(iter(first), None), next(reversed(second), None)]

    between = found(True)
    if between == [None, None]:
        return found(False), ("before", "after")
    return between, ("after", "before")


def _described(thread: GpuTrack, event: int) -> str:
    moment = thread.moment(event, 0)
    name = f"`{moment.name}`" if moment.name else "a location"
    return f"{name} ({relative_place(moment.place)})"


def _place(thread: GpuTrack, event: int) -> str:
    return relative_place(thread.moment(event, 0).place)


def _lanes(mask: int) -> str:
    """Lanes of a mask."""
    lanes = lanes_of(mask)
    if len(lanes) == 1:
        return f"lane {lanes[0]} alone"
    if lanes[-1] - lanes[0] == len(lanes) - 1:
        return f"lanes {lanes[0]} to {lanes[-1]}"
    return f"the lanes of mask {mask:#010x}"


def _bytes(number: int) -> str:
    return f"{number} byte{'s' * (number != 1)}"
