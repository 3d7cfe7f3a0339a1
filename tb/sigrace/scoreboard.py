"""Scoreboard component: feeds the comparison with what the monitors saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pyuvm import ConfigDB, uvm_component

from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Remap, Slot
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep, LogEntry, RdmStep, Trap
from racetrap.sim.cosim.sigrace.coverage import Coverage
from racetrap.sim.cosim.sigrace.scoreboard import Scoreboard
from racetrap.tb.subscriber import Subscriber
from racetrap.tb.testbench import Testbench


class ScoreboardComponent(uvm_component):
    """Compares a system from its reset on.

    Attributes
    ----------
    events, core_steps, traps, rdm_steps : uvm_analysis_export
        Take what the monitors publish: pairs of a context and what was seen there; steps of the
        RDM alone.
    comparison : Scoreboard
        The comparison itself; software tells it what it does.
    coverage : Coverage
        Functional coverage of everything compared.
    units : dict of (int, int) to CoreUnit
        Golden core unit of each context that has taken an event.
    taken : int
        Events taken.
    """

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        self._trap_depth = testbench.params.trap_depth
        self._waiting: Counter[Slot] = Counter()
        self.coverage = Coverage(testbench.params)
        self.comparison = Scoreboard(testbench.params, observer=self)
        self.units: dict[Slot, CoreUnit] = {}
        self.taken = 0
        self.events = Subscriber("events", self, self._event).analysis_export
        self.core_steps = Subscriber("core_steps", self, self._core_step).analysis_export
        self.traps = Subscriber("traps", self, self._trap).analysis_export
        self.rdm_steps = Subscriber("rdm_steps", self, self.comparison.rdm_step).analysis_export

    # What monitors saw --------------------------------------------------------------------

    def _event(self, datum: tuple[Slot, CoreEvent]) -> None:
        place, event = datum
        self.taken += 1
        self.comparison.event(*place, event)

    def _core_step(self, datum: tuple[Slot, CoreStep]) -> None:
        place, step = datum
        self.comparison.core_step(*place, step)
        self._waiting[place] += step.traps
        if self._waiting[place] >= self._trap_depth:
            self.coverage.hit("trap.full")

    def _trap(self, datum: tuple[Slot, Trap]) -> None:
        place, trap = datum
        self._waiting[place] -= 1
        self.comparison.trap(*place, trap)

    # Observer of the comparison -----------------------------------------------------------

    def core_step(self, unit: CoreUnit, step: CoreStep) -> None:
        self.units[unit.core, unit.context] = unit
        self.coverage.core_step(unit, step)

    def block(self, block: FinishedBlock) -> None:
        self.coverage.block(block)

    def remap(self, remap: Remap, under_way: int) -> None:
        self.coverage.remap(remap, under_way)

    def message(self, steps: Sequence[RdmStep], entries: Sequence[int]) -> None:
        self.coverage.message(steps, entries)

    def trap(self, unit: CoreUnit, trap: Trap) -> None:
        self.coverage.trap(unit, trap)

    def finished(self, log: Sequence[LogEntry], reasons: int) -> None:
        self.coverage.finished(log, reasons)
