"""Expected sequence at a port, compared as soon as prediction and observation are known."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from racetrap.sim.cosim.comparison.mismatch import Mismatch, difference


class Expected:
    """Expected items of one port, in order; prediction and observation may each come first.

    Parameters
    ----------
    place, what : str
        Owner of the port, and name of its items, for messages.
    """

    def __init__(self, place: str, what: str) -> None:
        self._place = place
        self._what = what
        self._due: deque[Any] = deque()
        self._early: deque[Any] = deque()
        self._agreed = 0

    def __len__(self) -> int:
        """Things that are still to come."""
        return len(self._due)

    @property
    def due(self) -> Sequence[Any]:
        """Things that are still to come."""
        return self._due

    def see_due(self) -> None:
        """The hardware has given all that was still to come."""
        self._due.clear()

    def predict(self, golden: Any) -> None:
        """The golden model gives the next."""
        if self._early:
            self._compare(self._early.popleft(), golden)
        else:
            self._due.append(golden)

    def see(self, seen: Any) -> None:
        """The hardware gives the next."""
        if self._due:
            self._compare(seen, self._due.popleft())
        else:
            self._early.append(seen)

    def finish(self) -> None:
        """Demand that both have given as much."""
        for queue, word in ((self._due, "missing"), (self._early, "too many")):
            if queue:
                raise Mismatch(f"{self._place}: {len(queue)} {self._what}s {word}, next {queue[0]}")

    def _compare(self, seen: Any, golden: Any) -> None:
        if seen != golden:
            what = difference(self._what, seen, golden)
            raise Mismatch(f"{self._place}, {self._what} {self._agreed}: {what}")
        self._agreed += 1
