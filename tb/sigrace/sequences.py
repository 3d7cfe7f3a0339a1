"""Sequences of events on all contexts, with the changes of CoreToThread between them.

Ref: SigRace (ISCA'09) Section 4.3.1 (a thread may not send from its new core before the messages
of its old one are accepted).
"""

from __future__ import annotations

from collections.abc import Iterable

import cocotb
from pyuvm import uvm_sequence, uvm_sequencer

from racetrap.golden_model.sigrace.environment import Command, Remap, Slot
from racetrap.golden_model.sigrace.packets import CoreEvent
from racetrap.tb.sigrace.environment import SigraceEnvironment
from racetrap.tb.stream_agent import StreamSequence
from racetrap.tb.testbench import Testbench

#: Cycles in which an event must have been taken, however many messages wait before it.
_CYCLES_PER_EVENT = 5_000
_START_CYCLES = 50_000


class PlayCommands(uvm_sequence):
    """All contexts at once, each in its own order; changes of CoreToThread in one global order.

    When the interrupt comes, software stops the contexts, waits until nothing is in flight,
    compares the conflict log, clears it, empties the queues, and lets the contexts go on: what
    it does at a rollback, but for going back.

    Parameters
    ----------
    environment : SigraceEnvironment
        Testbench.
    testbench : Testbench
        Shared context.
    commands : iterable of Command
        What the contexts do.
    busy : float
        Probability that an event follows without an idle cycle.
    longest_idle : int
        Most idle cycles.
    serves : bool
        Answer the interrupt.

    Attributes
    ----------
    served : int
        Interrupts answered.
    """

    def __init__(
        self,
        environment: SigraceEnvironment,
        testbench: Testbench,
        commands: Iterable[Command],
        busy: float = 1.0,
        longest_idle: int = 1,
        *,
        serves: bool = False,
    ):
        super().__init__("commands")
        self._environment, self._clocking = environment, testbench.clocking
        self._rng = testbench.random("idle cycles")
        self._irq = testbench.pins.reader("irq")
        self._busy, self._longest_idle, self._serves = busy, longest_idle, serves
        self._items: dict[Slot, list[CoreEvent | tuple[int, Remap]]] = {
            place: [] for place in environment.contexts
        }
        remaps = self._count = 0
        for command in commands:
            items = self._items[command.core, command.context]
            self._count += 1
            if isinstance(command, Remap):
                items.append((remaps, command))
                remaps += 1
            else:
                items.append(command.event)
        self._remapped = 0
        self._parked = self._running = 0
        self._stops = False
        self.served = 0

    async def body(self) -> None:
        tasks = [cocotb.start_soon(self._context(place)) for place in self._items]
        self._running = len(tasks)
        limit = _CYCLES_PER_EVENT * self._count + _START_CYCLES
        while self._running:
            await self._clocking.until(
                lambda: not self._running or (self._serves and bool(self._irq())),
                "not every event was taken",
                limit,
            )
            if self._running:
                await self._rollback(limit)

    async def _context(self, place: Slot) -> None:
        sequencer = self._environment.contexts[place].sequencer
        for item in self._items[place]:
            if self._stops:
                await self._park()
            if isinstance(item, CoreEvent):
                await self._send(item, sequencer)
            else:
                await self._remap(*item)
        self._running -= 1

    async def _send(self, event: CoreEvent, sequencer: uvm_sequencer) -> None:
        sequence = StreamSequence([event], self._busy, self._longest_idle, self._rng)
        await sequence.start(sequencer)

    async def _remap(self, number: int, remap: Remap) -> None:
        """Change CoreToThread in its turn, when the context's messages have been taken."""
        comparison = self._environment.scoreboard.comparison
        comparison.remap(remap)

        def can_go_on() -> bool:
            if not comparison.rdm.enabled:
                return number == self._remapped
            due = comparison.messages_due(remap.core, remap.context)
            return number == self._remapped and not due

        while not can_go_on():
            await self._clocking.until(
                lambda: self._stops or can_go_on(),
                f"messages before {remap} were not taken",
                _CYCLES_PER_EVENT * self._count + _START_CYCLES,
            )
            if self._stops:
                await self._park()
        await self._environment.software.remap(remap)
        self._remapped += 1

    async def _park(self) -> None:
        """Wait while software answers the interrupt."""
        self._parked += 1
        await self._clocking.until(
            lambda: not self._stops, "interrupt was not answered", 10 * _START_CYCLES
        )
        self._parked -= 1

    async def _rollback(self, limit: int) -> None:
        """Answer the interrupt."""
        self._stops = True
        await self._clocking.until(
            lambda: self._parked >= self._running, "contexts did not stop", limit
        )
        await self._environment.finish()
        await self._environment.request("clear_log", "flush")
        self.served += 1
        self._stops = False
        await self._clocking.until(lambda: not self._parked, "contexts did not go on", limit)
