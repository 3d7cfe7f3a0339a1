"""Tap queue: operations of all taps in their order, until the monitor takes them.

The operations of one cycle are a group, in the order of the lanes.  A group that finds the queue
full is lost as a whole, and counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from racetrap.golden_model.noncoherent.packets import BusOperation


class TapQueue:
    """Groups of operations that wait.

    Parameters
    ----------
    depth : int
        Groups that have room.

    Attributes
    ----------
    lost : int
        Operations that found no room.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._groups: deque[deque[BusOperation]] = deque()
        self.lost = 0

    @property
    def first(self) -> BusOperation | None:
        """The operation that is offered."""
        return self._groups[0][0] if self._groups else None

    def step(self, group: Sequence[BusOperation], is_taken: bool) -> None:
        """A cycle: a group comes, which may be empty, and the first operation may be taken."""
        has_room = len(self._groups) < self._depth
        if is_taken:
            self._groups[0].popleft()
            if not self._groups[0]:
                self._groups.popleft()
        if not group:
            return
        if has_room:
            self._groups.append(deque(group))
        else:
            self.lost += len(group)
