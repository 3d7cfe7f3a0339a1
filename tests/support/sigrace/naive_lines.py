"""Losses of caches and BlockHistoryQueues, by lists of everything that has happened: the judge of
``count_lines``.

Blocks and checkpoints are those of the golden model of SigRace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import OWN, Command, CoreCommand
from racetrap.golden_model.sigrace.packets import CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.events import (
    ATOMIC_KINDS,
    WRITE_KINDS,
    ThreadEvent,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from tests.support.sigrace.measures import ExactUnit

_WAYS, _LINE = 4, 64


@dataclass
class _Copy:
    """A line in a cache; ``state`` is M, E or S."""

    core: int
    line: int
    state: str
    used: int


class _Caches:
    """All copies in all caches of one size, in no order."""

    def __init__(self, size: int) -> None:
        self._sets = size // (_LINE * _WAYS)
        self._uses = 0
        self.copies: list[_Copy] = []
        self.lost: list[tuple[int, int]] = []
        self.written: list[int] = []

    def has(self, core: int, line: int) -> bool:
        return [core, line] in [[copy.core, copy.line] for copy in self.copies]

    def access(self, core: int, line: int, is_write: bool) -> None:
        self._uses += 1
        mine = [copy for copy in self.copies if (copy.core, copy.line) == (core, line)]
        others = [copy for copy in self.copies if copy.core != core and copy.line == line]
        assert not others or [each.state for each in mine] in ([], ["S"])
        if is_write:
            for copy in others:
                self._leave(copy)
        elif not mine:
            for copy in others:
                if copy.state == "M":
                    self.written.append(line)
                copy.state = "S"
        if not mine:
            rivals = [
                copy for copy in self.copies
                if copy.core == core and copy.line % self._sets == line % self._sets
            ]  # fmt: skip
            if len(rivals) == _WAYS:
                victim = min(rivals, key=lambda copy: copy.used)
                if victim.state == "M":
                    self.written.append(victim.line)
                self._leave(victim)
            mine = [_Copy(core, line, "S" if others else "E", 0)]
            self.copies += mine
        mine[0].used = self._uses
        if is_write:
            mine[0].state = "M"

    def clean(self) -> list[int]:
        dirty = [copy for copy in self.copies if copy.state == "M"]
        for copy in dirty:
            copy.state = "E"
        self.written += [copy.line for copy in dirty]
        return [copy.line for copy in dirty]

    def _leave(self, copy: _Copy) -> None:
        self.copies.remove(copy)
        self.lost.append((copy.core, copy.line))


class _Loss(NamedTuple):
    """A line that left a cache, and the lines of its thread's queue and open block."""

    line: int
    queue: list[int]
    block: list[int]


@dataclass
class _History:
    """Everything that happened to the caches of one size."""

    caches: _Caches
    losses: list[_Loss] = field(default_factory=list)
    #: Lines only in a displaced block and in the cache.
    cached: list[int] = field(default_factory=list)
    logged: int = 0
    written_back: int = 0


class NaiveLines:
    """Listener to the golden model's hardware, in environment ``fixed``.

    Parameters
    ----------
    trace : ThreadTrace
        The program.
    params : SigraceParams
        Its configuration, of form ``hashed``.
    sizes : sequence of int
        Bytes of caches.
    """

    def __init__(self, trace: ThreadTrace, params: SigraceParams, sizes: Sequence[int]) -> None:
        self._events, self._params = list(trace), params
        self._units = [ExactUnit(params, core) for core in range(params.cores)]
        self._blocks: list[tuple[int, int, list[int]]] = []  # interval, thread, lines
        self._displaced: list[int] = []
        self._checked: list[tuple[int, int]] = []  # thread and line of each checked access
        self._interval = 0
        self._histories = {size: _History(_Caches(size)) for size in sizes}
        self._waiting: int | None = None  # an atomic access whose core events may not be over

    def command(self, command: Command) -> None:
        if not isinstance(command, CoreCommand):
            return
        core, _, event, number = command
        if number != self._waiting:
            self._settle()
        unit, happened = self._units[core], self._events[number]
        if event.op in (CoreOp.LOAD, CoreOp.STORE):
            self._access(happened)
            if unit.collecting:
                self._checked += [(core, line) for line in _lines(happened)]
        elif number != OWN and happened.kind in ATOMIC_KINDS:
            self._waiting = number
        unit.take(event)
        unit.blocks.clear()
        for read, write in unit.ended:
            self._push(core, sorted({granule // (_LINE // 4) for granule in read | write}))
        unit.ended.clear()

    def flush(self) -> None:
        for history in self._histories.values():
            history.written_back += len(history.caches.clean())
            history.logged += len(set(history.caches.written))
            history.caches.written.clear()
        self._interval += 1

    def clear_log(self) -> None:
        """Nothing is analysed here."""

    def analysis_unit(self) -> CoreUnit:
        return CoreUnit(self._params)

    def counts(self) -> dict[str, Any]:
        """Everything counted, as of ``LineCounts``."""
        self._settle()
        shared = [
            line for line in {line for _, line in self._checked}
            if len({thread for thread, other in self._checked if other == line}) > 1
        ]  # fmt: skip
        return {
            "instructions": sum(event.instructions for event in self._events),
            "threads": len({event.thread for event in self._events}),
            "checkpoints": self._interval,
            "blocks": len(self._blocks),
            "lines": sum(len(lines) for *_, lines in self._blocks),
            "shared_lines": sum(line in shared for *_, lines in self._blocks for line in lines),
            "displaced_lines": len(self._displaced),
            "caches": {
                size: _counts_of(history, shared) for size, history in self._histories.items()
            },
        }

    def _settle(self) -> None:
        if self._waiting is not None:
            self._access(self._events[self._waiting])
            self._waiting = None

    def _access(self, event: ThreadEvent) -> None:
        for history in self._histories.values():
            caches = history.caches
            for line in _lines(event):
                caches.access(event.thread, line, event.kind in WRITE_KINDS)
                for core, lost in caches.lost:
                    read, write = self._units[core].granules
                    block = [granule // (_LINE // 4) for granule in read | write]
                    history.losses.append(_Loss(lost, self._queue(core), block))
                caches.lost.clear()

    def _own(self, thread: int) -> list[list[int]]:
        """A thread's blocks since the checkpoint."""
        return [
            lines for interval, other, lines in self._blocks
            if (interval, other) == (self._interval, thread)
        ]  # fmt: skip

    def _queue(self, thread: int) -> list[int]:
        entries = self._own(thread)[-self._params.history_depth :]
        return [line for lines in entries for line in lines]

    def _push(self, thread: int, lines: list[int]) -> None:
        self._blocks.append((self._interval, thread, lines))
        own, depth = self._own(thread), self._params.history_depth
        if len(own) > depth:
            self._displaced += own[-depth - 1]
            for history in self._histories.values():
                history.cached += [
                    line for line in own[-depth - 1]
                    if line not in self._queue(thread) and history.caches.has(thread, line)
                ]  # fmt: skip


def _lines(event: ThreadEvent) -> Iterator[int]:
    yield from range(event.address // _LINE, (event.address + event.size - 1) // _LINE + 1)


def _counts_of(history: _History, shared: list[int]) -> dict[str, int]:
    losses = [loss for loss in history.losses if loss.line in shared]
    outside = [loss for loss in losses if loss.line not in loss.queue]
    return {
        "lost": len(losses),
        "queued": len(losses) - len(outside),
        "opened": sum(loss.line in loss.block for loss in outside),
        "cached": len(history.cached),
        "cached_shared": sum(line in shared for line in history.cached),
        "logged": history.logged,
        "written_back": history.written_back,
    }


def naive_counts(
    trace: ThreadTrace, params: SigraceParams, interval: int, sizes: Sequence[int]
) -> dict[str, Any]:
    """Counts of a program by a run of the golden model."""
    naive = NaiveLines(trace, params, sizes)
    Sigrace(params, checkpoint_interval=interval).run(trace, naive)
    return naive.counts()
