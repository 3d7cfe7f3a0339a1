"""Comparison of the Race Detection Module with the golden one, in the hardware's order.

Ref: SigRace (ISCA'09) Section 3.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import LogEntry, RdmStep
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters, difference
from racetrap.sim.cosim.sigrace.due_steps import DueSteps


class RdmCheck:
    """Expected messages of each context, and their expected steps.

    Parameters
    ----------
    params : SigraceParams
        Configuration of the hardware.
    on_message : callable or None
        Receives the steps of each message, and the entries of all queues before it.

    Attributes
    ----------
    rdm : Rdm
        Golden RDM, in the state of the last message begun.
    messages, steps : int
        Messages and steps compared.
    """

    def __init__(
        self,
        params: SigraceParams,
        on_message: Callable[[Sequence[RdmStep], Sequence[int]], None] | None = None,
    ) -> None:
        self._params = params
        self._on_message = on_message
        self.rdm = Rdm(params)
        #: By context, in its order.
        self._coming: list[deque[FinishedBlock | Remap]] = [
            deque() for _ in range(params.cores * params.contexts)
        ]
        self._due = DueSteps(params.scanners)  # of the message in progress
        self.messages = self.steps = 0

    def add(self, item: FinishedBlock | Remap) -> None:
        """A context has sent a block, or is mapped again after all that it has sent."""
        self._coming[self._unit(item.core, item.context)].append(item)

    def due(self, core: int, context: int) -> int:
        """Messages still to come from a context."""
        coming = self._coming[self._unit(core, context)]
        return sum(isinstance(item, FinishedBlock) for item in coming)

    def step(self, step: RdmStep) -> None:
        """Compare a step seen on the trace port."""
        if not self._due:
            self._begin(step)
        expected = self._due.take(step)
        if step != expected:
            self._fail(difference("step", step, expected))
        self.steps += 1
        if not self._due:
            self.messages += 1

    def settle(self) -> None:
        """Check that all messages have been taken; ignored ones make no steps."""
        if self._due:
            self._fail(f"{len(self._due)} steps missing, next {self._due.next()}")
        for coming in self._coming:
            self._remap(coming)
            while coming and not self.rdm.enabled:
                self._take(coming)
                self._remap(coming)
            if coming:
                self._fail(f"message missing, next {coming[0]}")

    def compare_registers(
        self,
        log: Sequence[LogEntry] | None,
        reasons: int | None,
        counters: Mapping[str, int] | None,
    ) -> None:
        """Compare register values read by software, as far as given."""
        if counters is not None:
            compare_counters(counters, self.rdm.counters)
        if reasons is not None and reasons != self.rdm.reasons:
            raise Mismatch(f"Reasons of the rollback must be {self.rdm.reasons}, not {reasons}")
        if log is None:
            return
        golden = self.rdm.log
        if len(log) != len(golden):
            raise Mismatch(f"Conflict log must have {len(golden)} entries, not {len(log)}")
        for number, (seen, entry) in enumerate(zip(log, golden, strict=True)):
            if seen != entry:
                raise Mismatch(f"Conflict {number}: {difference('entry', seen, entry)}")

    def _unit(self, core: int, context: int) -> int:
        return core * self._params.contexts + context

    def _begin(self, step: RdmStep) -> None:
        """Pass the next block of the step's context through the golden RDM."""
        if step.core >= self._params.cores or step.context >= self._params.contexts:
            self._fail(f"message must be of a context of the system, not of {step}")
        coming = self._coming[self._unit(step.core, step.context)]
        self._remap(coming)
        if not coming:
            self._fail(f"message was never sent: {step}")
        entries = [len(queue.entries) for queue in self.rdm.queues]
        steps = self._take(coming)
        if not steps:
            self._fail(f"message must be ignored, not make {step}")
        self._due.begin(steps)
        if self._on_message is not None:
            self._on_message(steps, entries)

    def _take(self, coming: deque[FinishedBlock | Remap]) -> list[RdmStep]:
        block = coming.popleft()
        assert isinstance(block, FinishedBlock)  # the changes before it have been made
        return self.rdm.summary(block.summary(self._params), block.core)

    def _remap(self, coming: deque[FinishedBlock | Remap]) -> None:
        while coming and isinstance(remap := coming[0], Remap):
            self.rdm.map(*remap)
            coming.popleft()

    def _fail(self, what: str) -> NoReturn:
        raise Mismatch(f"RDM, message {self.messages}: {what}")
