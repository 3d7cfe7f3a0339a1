"""Scoreboard of the Race Detection Module alone: messages as flits in, steps out."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from pyuvm import ConfigDB, uvm_component

from racetrap.golden_model.sigrace.packets import RdmStep
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.sim.cosim.comparison.mismatch import Mismatch, difference
from racetrap.sim.cosim.sigrace.coverage import Coverage
from racetrap.sim.cosim.sigrace.due_steps import DueSteps
from racetrap.sim.cosim.sigrace.random_messages import link_of
from racetrap.tb.subscriber import Subscriber
from racetrap.tb.testbench import Testbench


class Flit(NamedTuple):
    """Payload of a link."""

    data: int
    last: int


class MessageScoreboard(uvm_component):
    """Tracks the order in which the hardware takes the messages of the links.

    Attributes
    ----------
    flits, steps : uvm_analysis_export
        Receive items from the monitors: pairs of link and flit; steps.
    rdm : Rdm
        Golden module, in the state of the last message begun.
    coverage : Coverage
        Functional coverage.
    messages : int
        Messages that made all their steps.
    """

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        self._params = testbench.params
        self.coverage = Coverage(testbench.params)
        self.flits = Subscriber("flits", self, self._flit).analysis_export
        self.steps = Subscriber("steps", self, self._step).analysis_export
        self.messages = 0
        self.reset()

    def reset(self) -> None:
        """Drop incomplete messages after a reset."""
        cores = range(self._params.cores)
        self.rdm = Rdm(self._params)
        self._parts: list[list[int]] = [[] for _ in cores]
        self._coming: list[deque[tuple[int, ...]]] = [deque() for _ in cores]
        self._due = DueSteps(self._params.scanners)

    @property
    def is_scanning(self) -> bool:
        """Whether some but not all steps of a message have been seen."""
        return bool(self._due)

    def settle(self) -> None:
        """Check that all messages have been taken; ignored ones make no steps."""
        if self._due:
            raise Mismatch(f"Steps of a message that are missing must number 0: {self._due.next()}")
        for link, coming in enumerate(self._coming):
            while coming and not self.rdm.enabled:
                self.rdm.message(coming.popleft(), link)
            if coming:
                raise Mismatch(f"Messages of link {link} left must number 0, not {len(coming)}")

    def _flit(self, datum: tuple[int, Flit]) -> None:
        link, flit = datum
        self._parts[link].append(flit.data)
        if flit.last:
            self._coming[link].append(tuple(self._parts[link]))
            self._parts[link].clear()

    def _step(self, step: RdmStep) -> None:
        if not self._due:
            self._begin(step)
        expected = self._due.take(step)
        if step != expected:
            raise Mismatch(f"Message {self.messages}: {difference('step', step, expected)}")
        self.messages += not self._due

    def _begin(self, step: RdmStep) -> None:
        link = link_of(step.core, step.cause)
        if link >= self._params.cores or not self._coming[link]:
            raise Mismatch(f"Message must have been sent over link {link}: {step}")
        entries = [len(queue.entries) for queue in self.rdm.queues]
        steps = self.rdm.message(self._coming[link].popleft(), link)
        if not steps:
            raise Mismatch(f"Message must be ignored, not make {step}")
        self._due.begin(steps)
        self.coverage.message(steps, entries)
