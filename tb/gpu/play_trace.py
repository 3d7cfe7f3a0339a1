"""Test that plays given events in their global order, for any GPU detector.

Plan: ``trace`` (path) with ``region``; ``memory`` and ``report_memory``.  For each kernel there is
a note with the races of golden model and hardware.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import cocotb

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.trace import read_gpu_trace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.tb.gpu.gpu_test import GpuTest
from racetrap.tb.stream_agent import StreamSequence

_RING_LOG2 = 8
#: Events between two polls of the ring buffer, and seconds between notes on progress.
_DRAIN_EVENTS = 64
_NOTE_SECONDS = 0.2
#: Cycles within which a transaction must make its steps, even with slow memory.
_CYCLES_PER_TRANSACTION = 80_000


class PlayTrace(GpuTest):
    """Plays kernels one after the other."""

    async def body(self) -> None:
        trace = read_gpu_trace(self.testbench.plan["trace"])
        self._done, self._total, self._noted = 0, len(trace), monotonic()
        kernel: list[Event] = []
        for event in trace:
            kernel.append(event)
            if event.kind == EventKind.KERNEL_END:
                result = await self.play(self.region(), self._counted(kernel))
                self.testbench.note({"kernel": True, **result})
                kernel = []

    def _counted(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with occasional notes on progress."""
        for event in events:
            self._done += 1
            if monotonic() - self._noted > _NOTE_SECONDS:
                self._noted = monotonic()
                self.testbench.note({"done": self._done, "total": self._total})
            yield event

    async def play(self, region: MonitoredRegion, events: Iterable[Event]) -> dict[str, Any]:
        """Play one kernel; return its races by both, and cycles."""
        testbench, environment = self.testbench, self.environment
        params = testbench.params
        model = environment.model_class(params, region)
        await environment.launch(region, _RING_LOG2)
        first_cycle = testbench.clocking.cycle
        for number, event in enumerate(events, 1):
            model.run(event)
            for transaction in model.transactions(event):
                await self._send(event.sm, transaction)
            if number % _DRAIN_EVENTS == 0:
                await environment.drain()
        cycles = testbench.clocking.cycle - first_cycle
        counters = await environment.finish()
        golden = [replace(race, sequence=0) for race in model.races]
        seen = environment.scoreboard.reports(model.report)
        # In global order only the order of one event's steps in several banks is unspecified.
        records, seen_records = ([race.record() for race in found] for found in (golden, seen))
        if sorted(records) != sorted(seen_records):
            raise Mismatch(f"Races must be {golden}, not {seen}")
        return {
            "golden": list(map(str, records)),
            "rtl": list(map(str, seen_records)),
            "cycles": cycles,
            "steps": environment.scoreboard.compared,
            "dropped": counters["reports_dropped"],
        }

    async def _send(self, sm: int, transaction: Any) -> None:
        """Offer a transaction, and wait until it has made all its steps."""
        sequencer = self.environment.sms[sm].sequencer
        task = cocotb.start_soon(StreamSequence([transaction]).start(sequencer))
        await self.testbench.clocking.until(
            lambda: task.done() and self.environment.scoreboard.is_settled,
            f"transaction of SM {sm} has not made its steps: {transaction}",
            _CYCLES_PER_TRANSACTION,
        )
