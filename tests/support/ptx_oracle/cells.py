"""Cells: what has been done to one location, and which of it conflicts with an access.

Ref: PTX ISA 9.0, Section 8.7.1 (Conflict and Data-races).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from racetrap.golden_model.barracuda.compressed import NOTHING
from tests.support.ptx_oracle.messages import Access, Message, Source


class Conflict(NamedTuple):
    """An earlier access that conflicts with one.

    Parameters
    ----------
    access : Access
        The earlier access.
    source : Source
        What it is.
    message : Message, optional
        Its message, if it is a write.
    """

    access: Access
    source: Source
    message: Message | None


class _Group:
    """Accesses that are morally strong with the same others.

    Of the accesses of one thread and program counter the latest stands for all before it, as who
    is ordered behind it is behind them; not so of writes that have been observed.
    """

    def __init__(self) -> None:
        self.latest: dict[tuple[int, int, int], tuple[Access, Message | None]] = {}
        #: By thread and program counter: the latest write, those just before it that have been
        #: observed, and one that has not, which stands for all before it.
        self.messages: defaultdict[tuple[int, int, int], list[Message]] = defaultdict(list)
        self.last_row = 0

    def add(self, access: Access, message: Message | None) -> None:
        """Take in an access."""
        self.last_row = access.row
        key = access.warp, access.lane, access.pc
        self.latest[key] = access, message
        if message is not None:
            kept = self.messages[key]
            if kept and not kept[-1].observers:
                del kept[:-1]
            kept.append(message)


class Cell:
    """One location.

    Attributes
    ----------
    message : Message or None
        Its last write.
    first_readers, readers : Knowledge
        What reads of the initial value, and those of the last write, communicate.
    overtaken : Knowledge
        The same of the reads of older values than the last write.
    """

    __slots__ = ("_groups", "first_readers", "message", "overtaken", "readers")

    def __init__(self) -> None:
        self.message: Message | None = None
        self.first_readers = self.readers = self.overtaken = NOTHING
        self._groups: dict[tuple[Source, bool], _Group] = {}

    def add(self, access: Access, source: Source, writes: bool, message: Message | None) -> None:
        """Take in an access; ``message`` if it is a write."""
        key = source, writes
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group()
        group.add(access, message)

    def conflicts(
        self, access: Access, source: Source, writes: bool, block_time: int
    ) -> list[Conflict]:
        """Earlier accesses of other threads that conflict with one and may be unordered with it,
        the latest first.

        Parameters
        ----------
        access, source : Access, Source
            The access.
        writes : bool
            Whether it writes.
        block_time : int
            Row of the last barrier of its block.
        """
        found = self._conflicts(access, source, writes, block_time)
        return sorted(found, key=lambda each: (each.access.row, each.access.lane), reverse=True)

    def _conflicts(
        self, access: Access, source: Source, writes: bool, block_time: int
    ) -> Iterator[Conflict]:
        for (other, other_writes), group in self._groups.items():
            if not (writes or other_writes):
                continue
            if other.team.block == source.team.block and group.last_row <= block_time:
                continue
            strong = source.is_morally_strong_with(other)
            if group.messages and not strong:
                for written in chain.from_iterable(group.messages.values()):
                    if written.access.is_apart_from(access):
                        yield Conflict(written.access, other, written)
                continue
            for earlier, message in group.latest.values():
                if earlier.is_apart_from(access):
                    yield Conflict(earlier, other, message)
