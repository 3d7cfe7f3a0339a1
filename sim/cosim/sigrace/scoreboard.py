"""Comparison of the SigRace hardware with the golden model, for any simulator.

It is untimed: a monitor passes observations, each port in its own order, and
:meth:`Scoreboard.finish` checks that they are complete and agree.

* Each context's events go through a golden core unit, which gives the steps and trap records
  that must come from that context, in that order, and the blocks that it must send.
* The order of messages between cores is unspecified.  When the first step of a
  message comes, the next block of its context goes through the golden RDM, and every step of
  the message is compared.
* Conflict log, rollback request and counters are compared at the end.

Ref: SigRace (ISCA'09) Section 3, Fig. 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep, LogEntry, RdmStep, Trap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.sim.cosim.comparison.expected import Expected
from racetrap.sim.cosim.sigrace.rdm_check import RdmCheck


class Observer(Protocol):
    """Interface of functional coverage to a comparison."""

    def core_step(self, unit: CoreUnit, step: CoreStep) -> None:
        """An event was taken; the golden unit is in the state after it."""

    def block(self, block: FinishedBlock) -> None:
        """A block is sent."""

    def remap(self, remap: Remap, under_way: int) -> None:
        """A change of CoreToThread, and the context's messages that are still in flight."""

    def message(self, steps: Sequence[RdmStep], entries: Sequence[int]) -> None:
        """Steps of a message, and the entries that each thread's queue had before it."""

    def trap(self, unit: CoreUnit, trap: Trap) -> None:
        """A trap record was taken, and is the expected one."""

    def finished(self, log: Sequence[LogEntry], reasons: int) -> None:
        """Conflict log and rollback request at the end of a run that was compared in full."""


class _Unit:
    """Golden core unit of a context, and the expected items of its ports."""

    def __init__(self, params: SigraceParams, core: int, context: int) -> None:
        place = f"Core {core}, context {context}"
        self.golden = CoreUnit(params, core, context)
        self.steps = Expected(place, "step")
        self.traps = Expected(place, "trap record")


class Scoreboard:
    """Checks a system from its reset on.

    Parameters
    ----------
    params : SigraceParams
        Configuration of the hardware.
    observer : Observer or None
        Receiver of functional coverage.

    Attributes
    ----------
    events : int
        Events compared.

    Raises
    ------
    Mismatch
        From every method, at the first difference, with one sentence that names the place.
    """

    def __init__(self, params: SigraceParams, observer: Observer | None = None):
        self._contexts = params.contexts
        self._observer = observer
        self._units = [
            _Unit(params, core, context)
            for core in range(params.cores)
            for context in range(params.contexts)
        ]
        self._check = RdmCheck(params, None if observer is None else observer.message)
        self.events = 0

    @property
    def rdm(self) -> Rdm:
        """Golden RDM, in the state of the last message begun."""
        return self._check.rdm

    @property
    def messages(self) -> int:
        """Messages compared."""
        return self._check.messages

    @property
    def rdm_steps(self) -> int:
        """Steps of the RDM compared."""
        return self._check.steps

    # What goes in -----------------------------------------------------------------------

    def event(self, core: int, context: int, event: CoreEvent) -> int:
        """Add an event taken from a context; return the blocks that it must send."""
        unit = self._unit(core, context)
        golden = unit.golden
        step = golden.step(event)
        unit.steps.predict(step)
        for block in golden.blocks:
            self._check.add(block)
        for trap in golden.traps:
            unit.traps.predict(trap)
        if self._observer is not None:
            for block in golden.blocks:
                self._observer.block(block)
            self._observer.core_step(golden, step)
        blocks = len(golden.blocks)
        golden.blocks.clear()
        golden.traps.clear()
        return blocks

    def remap(self, remap: Remap) -> None:
        """Change CoreToThread after the context's events so far.

        The software must wait for the messages of those events.
        """
        if self._observer is not None:
            self._observer.remap(remap, self._check.due(remap.core, remap.context))
        self._check.add(remap)

    def messages_due(self, core: int, context: int) -> int:
        """Messages still to come from a context."""
        return self._check.due(core, context)

    def traps_due(self) -> int:
        """Trap records still to come, of all contexts."""
        return sum(len(unit.traps) for unit in self._units)

    # What software does while no message is in flight -----------------------------------

    def enable(self, on: bool) -> None:
        """Check messages from now on, or ignore them."""
        self._check.settle()
        self.rdm.enabled = on

    def flush(self) -> None:
        """The queues were emptied."""
        self._check.settle()
        self.rdm.flush()

    def clear_log(self) -> None:
        """The conflict log was emptied."""
        self._check.settle()
        self.rdm.clear_log()

    def clear_counters(self) -> None:
        """The counters were set to 0."""
        self._check.settle()
        self.rdm.counters = dict.fromkeys(self.rdm.counters, 0)

    # What comes out ---------------------------------------------------------------------

    def core_step(self, core: int, context: int, step: CoreStep) -> None:
        """Compare a step seen on the trace port of a core unit."""
        self._unit(core, context).steps.see(step)
        self.events += 1

    def core_steps_due(self, core: int, context: int) -> Sequence[CoreStep]:
        """Steps still to come from a core unit."""
        return self._unit(core, context).steps.due

    def core_steps_agree(self, core: int, context: int) -> None:
        """Record that exactly the expected steps of a core unit were seen."""
        steps = self._unit(core, context).steps
        self.events += len(steps)
        steps.see_due()

    def trap(self, core: int, context: int, trap: Trap) -> None:
        """Compare a trap record taken from a core unit."""
        unit = self._unit(core, context)
        unit.traps.see(trap)
        if self._observer is not None:
            self._observer.trap(unit.golden, trap)

    def rdm_step(self, step: RdmStep) -> None:
        """Compare a step seen on the trace port of the RDM."""
        self._check.step(step)

    def finish(
        self,
        log: Sequence[LogEntry] | None = None,
        reasons: int | None = None,
        counters: Mapping[str, int] | None = None,
    ) -> None:
        """End of a run: check that nothing is left over and the registers agree.

        Parameters
        ----------
        log : sequence of LogEntry or None
            Conflict log as read from the hardware.
        reasons : int or None
            ``STATUS.reasons``.
        counters : mapping of str to int or None
            Event counters by register name in lower case; those that the golden model has are
            compared.
        """
        self._check.settle()
        for unit in self._units:
            unit.steps.finish()
            unit.traps.finish()
        self._check.compare_registers(log, reasons, counters)
        if self._observer is not None:
            self._observer.finished(self.rdm.log, self.rdm.reasons)

    def _unit(self, core: int, context: int) -> _Unit:
        return self._units[core * self._contexts + context]
