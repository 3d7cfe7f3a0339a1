"""The machine, explored exhaustively: every possible run of a program.

One in-order CPU with a cache, and engines whose DMA happens at any time between its
issue and the next sync.  Uncached accesses, flush, clean and invalidate are complete before the
next operation; lines are filled whole; only dirty granules are written back, whole.  At any time a
dirty granule may be written back (the line stays), a clean line may be dropped, and an engine may
move the next byte of its oldest DMA; with prefetching any line may be filled.  A cached write that
misses fills the line first, or goes to memory only.  With write-through every cached write goes to
memory at once, and no line is ever dirty.  The cache is empty at the start.

A byte of memory or of the cache is the number of the operation that wrote it.  A run is racy as
soon as some byte that is read, or that is left in memory after a final flush and sync, can come
from two operations.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from racetrap.golden_model.trace.noncoherent.operations import (
    MAINTENANCE,
    RANGE_KINDS,
    MemorySystem,
    Operation,
    OperationKind,
)

#: Contents of a cached line, then its dirty granules as bits; None if the line is not cached.
_Line = tuple[tuple[int, ...], int] | None
#: Operation and how many of its bytes have moved.
_Dma = tuple[int, int]
#: Cache, memory, and the pending DMA of each engine, oldest first.
_State = tuple[tuple[_Line, ...], tuple[int, ...], tuple[tuple[_Dma, ...], ...]]
#: Possible sources of the bytes that each operation has read, by operation and byte.
_Seen = dict[tuple[int, int], set[int]]


class MachineLimitError(ValueError):
    """The machine has more states than the limit allows."""


class _Touched(NamedTuple):
    """Bytes and lines that an operation touches, and the granules of each line as bits."""

    operation: Operation
    places: list[int]
    lines: list[int]
    granules: list[int]


def _put(values: tuple[int, ...], places: Iterable[int], value: int) -> tuple[int, ...]:
    changed = list(values)
    for place in places:
        changed[place] = value
    return tuple(changed)


class ExhaustiveMachine:
    """All states in which the machine can be after the operations so far.

    Parameters
    ----------
    memory : MemorySystem
        The hardware.
    addresses : sequence of int
        Bytes of memory to follow; of all others only lines and granules are tracked.  A byte's
        value never depends on that of another, so omitting some does not affect the rest.
    state_limit : int
        Maximum number of states.
    """

    def __init__(
        self, memory: MemorySystem, addresses: Sequence[int], state_limit: int = 1_000_000
    ) -> None:
        self._memory = memory
        self._limit = state_limit
        self._addresses = sorted(addresses)
        line, granule = memory.line_bytes, memory.granule_bytes
        self._lines = sorted({address // line for address in self._addresses})
        #: Number of each byte's line in ``_lines``, and its place in the line's contents.
        self._line_of = [self._lines.index(address // line) for address in self._addresses]
        self._bytes_of = [
            [at for at, one in enumerate(self._line_of) if one == number]
            for number in range(len(self._lines))
        ]
        self._granule_of = [address % line // granule for address in self._addresses]
        self._effects = self._operations_by_kind()
        self._number = 0
        self._dma: dict[int, tuple[bool, list[int]]] = {}
        self._seen: _Seen = {}
        start: _State = (
            (None,) * len(self._lines), (0,) * len(self._addresses), ((),) * memory.engines,
        )  # fmt: skip
        self._states = self._closure({start}, self._seen)

    def _operations_by_kind(self) -> dict[int, Callable[[_State, _Touched], Iterable[_State]]]:
        return {
            OperationKind.CACHED_READ: self._cached_read,
            OperationKind.CACHED_WRITE: self._cached_write,
            OperationKind.UNCACHED_READ: self._uncached_read,
            OperationKind.UNCACHED_WRITE: self._uncached_write,
            OperationKind.DMA_READ: self._issue,
            OperationKind.DMA_WRITE: self._issue,
            OperationKind.SYNC: self._sync,
            OperationKind.SYNC_ALL: self._sync,
            **dict.fromkeys(MAINTENANCE, self._maintain),
        }

    def step(self, operation: Operation) -> bool:
        """Apply the next operation; return whether the run so far, flushed and synced, is racy."""
        self._number += 1
        touched, apply = self._touched(operation), self._effects[operation.kind]
        after = {end for state in self._states for end in apply(state, touched)}
        self._states = self._closure(after, self._seen)
        return self._is_racy()

    def _is_racy(self) -> bool:
        seen: _Seen = {}
        lines = range(len(self._lines))
        flushed = {self._dropped(self._written_back(state, lines), lines) for state in self._states}
        ends = [state for state in self._closure(flushed, seen) if not any(state[2])]
        for key, sources in self._seen.items():
            if len(sources | seen.get(key, set())) > 1:
                return True
        if any(len(sources) > 1 for sources in seen.values()):
            return True
        return len({memory for _, memory, _ in ends}) > 1

    # Queries, for visitors of all states

    def copy(self) -> ExhaustiveMachine:
        """A copy of the machine, to continue in another way."""
        other = copy.copy(self)
        other._seen = {key: set(sources) for key, sources in self._seen.items()}
        other._dma = dict(self._dma)
        other._effects = other._operations_by_kind()
        return other

    def outstanding(self, engine: int) -> int:
        """Maximum DMA that the engine may still have pending."""
        return max(len(queues[engine]) for _, _, queues in self._states)

    def canonical(self) -> Hashable:
        """Canonical state: equal for runs that differ only in the numbers of operations.

        A run is racy if a reader can see a certain write and can see another one instead.  So for a
        byte it matters, for each write in turn, which values are that write's; and bytes do not
        depend on each other's values.
        """
        pending = {
            number for _, _, queues in self._states for queue in queues for number, _ in queue
        }
        rank = {number: at for at, number in enumerate(sorted(pending))}
        transfers = tuple(
            (is_write, tuple(places))
            for is_write, places in (self._dma[number] for number in sorted(pending))
        )  # fmt: skip
        views = {
            self._view(place, value, rank)
            for place in range(len(self._addresses))
            for value in self._values(place, pending)
        }
        return transfers, frozenset(views)

    def _values(self, place: int, pending: set[int]) -> set[int]:
        """Values of a byte that can still be read, or that an unfinished DMA has read."""
        number, at = self._line_of[place], self._place_in_line(place)
        values = {memory[place] for _, memory, _ in self._states}
        values |= {line[0][at] for line in (cache[number] for cache, _, _ in self._states) if line}
        for dma in pending:
            is_write, places = self._dma[dma]
            if is_write and place in places:
                values.add(dma)
            values |= self._seen.get((dma, place), set())
        return values

    def _view(self, place: int, value: int, rank: dict[int, int]) -> Hashable:
        """The machine with each value of a byte replaced by whether it equals the given one."""
        number, at = self._line_of[place], self._place_in_line(place)
        states = frozenset(
            (
                tuple(line and line[1] for line in cache),
                self._holds(cache[number], at, value),
                memory[place] == value,
                tuple(tuple((rank[dma], moved) for dma, moved in queue) for queue in queues),
            )
            for cache, memory, queues in self._states
        )
        seen = frozenset(
            (rank[dma], frozenset(one == value for one in sources))
            for (dma, seen_place), sources in self._seen.items()
            if seen_place == place and dma in rank
        )
        return place, states, rank.get(value), seen

    @staticmethod
    def _holds(line: _Line, at: int, value: int) -> bool:
        return line is not None and line[0][at] == value

    def _place_in_line(self, place: int) -> int:
        return self._bytes_of[self._line_of[place]].index(place)

    # Spontaneous steps

    def _closure(self, states: set[_State], seen: _Seen) -> set[_State]:
        """States that can be reached from ``states`` without an operation."""
        found, new = set(states), list(states)
        while new:
            for state in self._spontaneous(new.pop(), seen):
                if state not in found:
                    found.add(state)
                    new.append(state)
            if len(found) > self._limit:
                raise MachineLimitError(
                    f"Exhaustive machine has more than {self._limit} states: take fewer operations"
                )
        return found

    def _spontaneous(self, state: _State, seen: _Seen) -> Iterator[_State]:
        cache, memory, queues = state
        for number, line in enumerate(cache):
            if line is None:
                if self._memory.prefetch:
                    yield (
                        self._with_line(cache, number, self._filled(memory, number)),
                        memory,
                        queues,
                    )
                continue
            contents, dirty = line
            if not dirty:
                yield self._with_line(cache, number, None), memory, queues
            for granule in range(dirty.bit_length()):
                if dirty >> granule & 1:
                    kept = self._with_line(cache, number, (contents, dirty & ~(1 << granule)))
                    yield kept, self._stored(memory, number, contents, 1 << granule), queues
        for engine, queue in enumerate(queues):
            if queue:
                yield self._moved(state, engine, seen)

    def _moved(self, state: _State, engine: int, seen: _Seen) -> _State:
        """State after the engine has moved the next byte of its oldest DMA."""
        cache, memory, queues = state
        number, moved = queues[engine][0]
        is_write, places = self._dma[number]
        place = places[moved]
        if is_write:
            memory = _put(memory, [place], number)
        else:
            seen.setdefault((number, place), set()).add(memory[place])
        moved += 1
        queue = queues[engine][1:]
        if moved < len(places):
            queue = ((number, moved), *queue)
        return cache, memory, (*queues[:engine], queue, *queues[engine + 1 :])

    def _filled(self, memory: tuple[int, ...], number: int) -> tuple[tuple[int, ...], int]:
        return tuple(memory[place] for place in self._bytes_of[number]), 0

    @staticmethod
    def _with_line(cache: tuple[_Line, ...], number: int, line: _Line) -> tuple[_Line, ...]:
        return (*cache[:number], line, *cache[number + 1 :])

    def _stored(
        self, memory: tuple[int, ...], number: int, contents: tuple[int, ...], granules: int
    ) -> tuple[int, ...]:
        """Memory after granules of a line are written back."""
        changed = list(memory)
        for place, value in zip(self._bytes_of[number], contents, strict=True):
            if granules >> self._granule_of[place] & 1:
                changed[place] = value
        return tuple(changed)

    # Operations

    def _touched(self, operation: Operation) -> _Touched:
        everything = operation.kind not in RANGE_KINDS
        ranges = [] if everything else operation.ranges

        def touches(begin: int, size: int) -> bool:
            return everything or any(
                first < begin + size and last >= begin for first, last in ranges
            )

        line, granule = self._memory.line_bytes, self._memory.granule_bytes
        return _Touched(
            operation,
            [place for place, address in enumerate(self._addresses) if touches(address, 1)],
            [number for number, at in enumerate(self._lines) if touches(at * line, line)],
            [
                sum(
                    touches(at * line + number * granule, granule) << number
                    for number in range(line // granule)
                )
                for at in self._lines
            ],
        )

    def _see(self, place: int, value: int) -> None:
        self._seen.setdefault((self._number, place), set()).add(value)

    def _cached_read(self, state: _State, touched: _Touched) -> Iterable[_State]:
        cache, memory, queues = state
        for number in touched.lines:
            cache = self._with_line(cache, number, cache[number] or self._filled(memory, number))
        for place in touched.places:
            self._see(place, self._cached_value(cache, place))
        return [(cache, memory, queues)]

    def _cached_value(self, cache: tuple[_Line, ...], place: int) -> int:
        line = cache[self._line_of[place]]
        assert line is not None
        return line[0][self._place_in_line(place)]

    def _cached_write(self, state: _State, touched: _Touched) -> Iterable[_State]:
        cache, memory, queues = state
        lines, places = touched.lines, touched.places
        missed = [number for number in lines if cache[number] is None]
        for allocates in product((True, False), repeat=len(missed)):
            through = {number for number, does in zip(missed, allocates, strict=True) if not does}
            new_cache, new_memory = cache, memory
            for number in lines:
                own = [place for place in places if self._line_of[place] == number]
                if number in through:
                    new_memory = _put(new_memory, own, self._number)
                    continue
                contents, dirty = cache[number] or self._filled(memory, number)
                begin = self._bytes_of[number][0]
                contents = _put(contents, [place - begin for place in own], self._number)
                if self._memory.write_through:
                    new_memory = _put(new_memory, own, self._number)
                else:
                    dirty |= touched.granules[number]
                new_cache = self._with_line(new_cache, number, (contents, dirty))
            yield new_cache, new_memory, queues

    def _uncached_read(self, state: _State, touched: _Touched) -> Iterable[_State]:
        cache, memory, _ = state
        for place in touched.places:
            line = cache[self._line_of[place]]
            is_dirty = line is not None and line[1] >> self._granule_of[place] & 1
            if self._memory.uncached_snoops_cache and is_dirty:
                self._see(place, self._cached_value(cache, place))
            else:
                self._see(place, memory[place])
        return [state]

    def _uncached_write(self, state: _State, touched: _Touched) -> Iterable[_State]:
        cache, memory, queues = state
        places = touched.places
        if self._memory.uncached_snoops_cache:
            for number in touched.lines:
                line = cache[number]
                if line is not None:
                    begin = self._bytes_of[number][0]
                    own = [place - begin for place in places if self._line_of[place] == number]
                    cache = self._with_line(
                        cache, number, (_put(line[0], own, self._number), line[1])
                    )
        return [(cache, _put(memory, places, self._number), queues)]

    def _issue(self, state: _State, touched: _Touched) -> Iterable[_State]:
        cache, memory, queues = state
        places = touched.places
        if not places:
            return [state]
        self._dma[self._number] = (touched.operation.kind == OperationKind.DMA_WRITE, places)
        engine = touched.operation.engine
        queue = (*queues[engine], (self._number, 0))
        return [(cache, memory, (*queues[:engine], queue, *queues[engine + 1 :]))]

    def _sync(self, state: _State, touched: _Touched) -> Iterable[_State]:
        """The CPU waits: only states in which the DMA has completed go on."""
        queues = state[2]
        if touched.operation.kind == OperationKind.SYNC:
            queues = (queues[touched.operation.engine],)
        return [] if any(queues) else [state]

    def _maintain(self, state: _State, touched: _Touched) -> Iterable[_State]:
        kinds, kind = OperationKind, touched.operation.kind
        if kind not in (kinds.CACHE_INVALIDATE, kinds.INVALIDATE_ALL):
            state = self._written_back(state, touched.lines)
        if kind not in (kinds.CACHE_CLEAN, kinds.CLEAN_ALL):
            state = self._dropped(state, touched.lines)
        return [state]

    def _written_back(self, state: _State, lines: Iterable[int]) -> _State:
        cache, memory, queues = state
        for number in lines:
            line = cache[number]
            if line is not None:
                memory = self._stored(memory, number, *line)
                cache = self._with_line(cache, number, (line[0], 0))
        return cache, memory, queues

    def _dropped(self, state: _State, lines: Iterable[int]) -> _State:
        cache, memory, queues = state
        for number in lines:
            cache = self._with_line(cache, number, None)
        return cache, memory, queues
