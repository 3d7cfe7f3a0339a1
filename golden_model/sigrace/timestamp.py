"""Timestamps: the order of blocks of different threads, and the merge at an acquire.

Ref: SigRace (ISCA'09) Sections 2.1 and 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.golden_model.sigrace.packets import Relation


def relation(
    entry: Sequence[int], entry_thread: int, message: Sequence[int], message_thread: int
) -> Relation:
    """Order of a recorded block and the block of a message, which is of another thread.

    A block happened before another one if the other thread's timestamp includes a later epoch of
    its thread.  Since a thread's own counter is incremented at releases and at acquires, one
    counter decides.
    """
    if entry[entry_thread] < message[entry_thread]:
        return Relation.PRECEDES
    if message[message_thread] < entry[message_thread]:
        return Relation.FOLLOWS
    return Relation.UNORDERED


def generate_timestamp(own: Sequence[int], other: Sequence[int], thread: int) -> tuple[int, ...]:
    """GenerateTS: the maximum of each counter, except that ``thread`` keeps its own."""
    return tuple(
        mine if index == thread else max(mine, learned)
        for index, (mine, learned) in enumerate(zip(own, other, strict=True))
    )
