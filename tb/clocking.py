"""Clock, reset and the single coroutine that samples the device in every cycle.

Waking a coroutine costs microseconds, so agents do not wait for the clock: they register plain
functions, which are called with the flags just before the rising edge.  A testbench without
activity fails.
"""

from __future__ import annotations

from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Event, RisingEdge

from racetrap.tb.pins import Pins

_PERIOD_STEPS = 2
_RESET_CYCLES = 4
#: Cycles without a change of any flag after which the device counts as stuck.
_SILENT_CYCLES = 20_000


class TestbenchTimeout(AssertionError):
    """An expected event did not occur."""


class Clocking:
    """Clock of the testbench.

    Parameters
    ----------
    pins : Pins
        Signals of the device.

    Attributes
    ----------
    cycle : int
        Rising edges since the end of reset.
    """

    def __init__(self, pins: Pins):
        self._clock = pins.dut.clk
        self._reset = pins.writer("rst", 1)
        self._flags = pins.reader("flags")
        self._when: list[tuple[int, Callable[[], None]]] = []
        self._each: list[Callable[[int], None]] = []
        self._waits: list[tuple[Callable[[], bool], int, str, Event]] = []
        self.cycle = 0

    def when(self, mask: int, call: Callable[[], None]) -> None:
        """Call a function in each cycle in which all flags of ``mask`` are high."""
        self._when.append((mask, call))

    def each(self, call: Callable[[int], None]) -> None:
        """Call a function in each cycle with the flags, after those of ``when``."""
        self._each.append(call)

    async def start(self) -> None:
        """Start the clock, reset the device, and start sampling."""
        Clock(self._clock, _PERIOD_STEPS, unit="step").start()
        edge = RisingEdge(self._clock)
        for _ in range(_RESET_CYCLES):
            await edge
        self._reset(0)
        await edge
        cocotb.start_soon(self._run(edge))

    async def reset(self) -> None:
        """Reset the device again; nothing may be offered to it meanwhile."""
        self._reset(1)
        await self.cycles(_RESET_CYCLES)
        self._reset(0)
        await self.cycles(1)

    async def _run(self, edge: RisingEdge) -> None:
        read, when, each = self._flags, self._when, self._each
        flags, last_change = read(), 0
        while True:
            await edge
            last, flags = flags, read()
            self.cycle += 1
            if flags != last:
                last_change = self.cycle
            elif self.cycle - last_change > _SILENT_CYCLES:
                raise TestbenchTimeout(f"Ports must not all be still for {_SILENT_CYCLES} cycles")
            for mask, call in when:
                if flags & mask == mask:
                    call()
            for look in each:
                look(flags)
            if self._waits:
                self._wake()

    def _wake(self) -> None:
        waits, self._waits = self._waits, []
        for wait in waits:
            condition, deadline, what, event = wait
            if condition():
                event.set()
            elif self.cycle >= deadline:
                raise TestbenchTimeout(f"Timeout at cycle {self.cycle}: {what}")
            else:
                self._waits.append(wait)

    async def until(self, condition: Callable[[], bool], what: str, cycles: int) -> None:
        """Wait for a condition that changes with the clock.

        Raises
        ------
        TestbenchTimeout
            If it does not hold within ``cycles``; the whole test then fails.
        """
        if condition():
            return
        event = Event()
        self._waits.append((condition, self.cycle + cycles, what, event))
        await event.wait()

    async def cycles(self, count: int) -> None:
        """Wait for a number of cycles."""
        end = self.cycle + count
        await self.until(lambda: self.cycle >= end, "waiting", count + 1)
