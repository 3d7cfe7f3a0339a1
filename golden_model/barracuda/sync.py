"""Synchronization locations: the knowledge released at each, for one block and for all.

Ref: BARRACUDA (PLDI'17) Section 3.3.4, Fig. 3; state S.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from racetrap.golden_model.barracuda.compressed import NOTHING, Knowledge, join_all


class Published(Protocol):
    """Knowledge published by a release, which can be joined with earlier releases."""

    def join(self, other: Knowledge, /) -> Knowledge:
        """Join of both."""


@dataclass(slots=True)
class SyncLocation:
    """The paper's S of one location.

    A release is joined with earlier ones, by the definition of synchronization order (Section 3.2);
    taken literally, Fig. 3 would replace them.

    Parameters
    ----------
    for_all : Knowledge
        Released to all blocks.
    for_block : dict of int to Knowledge
        Released to a block.
    """

    for_all: Knowledge = NOTHING
    for_block: dict[int, Knowledge] = field(default_factory=dict)

    def release_to_all(self, known: Published) -> None:
        """Release to all blocks."""
        self.for_all = known.join(self.for_all)

    def release_to_block(self, block: int, known: Published) -> None:
        """Release to one block."""
        self.for_block[block] = known.join(self.of_block(block))

    def of_block(self, block: int) -> Knowledge:
        """Knowledge released to one block."""
        return self.for_block.get(block, NOTHING)

    @property
    def anywhere(self) -> Knowledge:
        """Knowledge released to any block, or to all."""
        return join_all((self.for_all, *self.for_block.values()))
