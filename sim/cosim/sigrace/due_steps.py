"""Steps of the RDM that must still come for a message.

Ref: SigRace (ISCA'09) Section 3.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from racetrap.golden_model.sigrace.packets import RdmStep, RdmStepKind


class DueSteps:
    """The golden model's steps of one message; each scanner makes those of its queues in order.

    Parameters
    ----------
    scanners : int
        Scanners of the RDM.
    """

    def __init__(self, scanners: int) -> None:
        self._of_scanner: list[deque[RdmStep]] = [deque() for _ in range(scanners)]
        self._end: RdmStep | None = None

    def __len__(self) -> int:
        return sum(map(len, self._of_scanner)) + (self._end is not None)

    def begin(self, steps: Sequence[RdmStep]) -> None:
        """Expect the steps of the next message."""
        *comparisons, self._end = steps
        for step in comparisons:
            self._scanner(step).append(step)

    def take(self, step: RdmStep) -> RdmStep:
        """Take a step that has come; return the one that was due in its place."""
        scanner = self._scanner(step)
        if step.kind == RdmStepKind.COMPARE and scanner:
            return scanner.popleft()
        return self._take_next()

    def next(self) -> RdmStep:
        """The step that the golden model makes next."""
        waiting = [scanner[0] for scanner in self._of_scanner if scanner]
        if waiting:
            return min(waiting, key=lambda step: step.other)
        assert self._end is not None  # asked for only while steps are due
        return self._end

    def _take_next(self) -> RdmStep:
        step = self.next()
        if step is self._end:
            self._end = None
        else:
            self._scanner(step).popleft()
        return step

    def _scanner(self, step: RdmStep) -> deque[RdmStep]:
        return self._of_scanner[step.other % len(self._of_scanner)]
