"""cocotb tests that play given events in their global order: a trace, or micro-benchmarks.

Plan: ``suite`` (true) with ``schedules``, or ``trace`` (path) with ``region``; ``memory`` and
``report_memory``.  For each run there is a note with the races of golden model and hardware.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any

import cocotb

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import read_gpu_trace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.scord.random_events import transactions_of
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.tb.base_test import run_test
from racetrap.tb.scord.scord_test import ScordTest
from racetrap.tb.stream_agent import StreamSequence

_RING_LOG2 = 8
_METADATA_BASE = 1 << 32
#: Events between two looks at the ring buffer, and seconds between notes on progress.
_DRAIN_EVENTS = 64
_NOTE_SECONDS = 0.2
#: Cycles in which a transaction must have made its steps, however slow the memory.
_CYCLES_PER_TRANSACTION = 80_000


class _PlayTest(ScordTest):
    """Plays kernels one after the other."""

    async def play(self, region: MonitoredRegion, events: Iterable[Event]) -> dict[str, Any]:
        """Play one kernel; gives its races by both, and cycles."""
        testbench, environment = self.testbench, self.environment
        golden = Scord(testbench.params, region)
        await environment.launch(region, _RING_LOG2)
        first_cycle = testbench.clocking.cycle
        for number, event in enumerate(events, 1):
            golden.run(event)
            for sm, transaction in transactions_of([event], testbench.params):
                await self._send(sm, transaction)
            if number % _DRAIN_EVENTS == 0:
                await environment.drain()
        cycles = testbench.clocking.cycle - first_cycle
        counters = await environment.finish()
        races = [
            RaceReport.from_step(testbench.params, step, bank)
            for bank, step in environment.scoreboard.races
        ]
        self._compare(golden.races, races)
        return {
            "golden": [str(race.record()) for race in golden.races],
            "rtl": [str(race.record()) for race in races],
            "cycles": cycles,
            "steps": environment.scoreboard.compared,
            "dropped": counters["reports_dropped"],
        }

    async def _send(self, sm: int, transaction: Transaction) -> None:
        """Offer a transaction, and wait until it has made all its steps."""
        sequencer = self.environment.sms[sm].sequencer
        task = cocotb.start_soon(StreamSequence([transaction]).start(sequencer))
        await self.testbench.clocking.until(
            lambda: task.done() and self.environment.scoreboard.is_settled,
            f"transaction of SM {sm} has not made its steps: {transaction}",
            _CYCLES_PER_TRANSACTION,
        )

    def _compare(self, golden: list[RaceReport], seen: list[RaceReport]) -> None:
        """In global order nothing is left for the device to choose: the races are the same.

        Steps of one event may be in several banks, whose order among themselves is open.
        """
        layout = self.testbench.params.report_layout

        def body(race: RaceReport) -> int:
            return race.record() & ~(((1 << 32) - 1) << layout.offset("sequence"))

        if sorted(map(body, golden)) != sorted(map(body, seen)):
            raise Mismatch(f"Races must be {golden}, not {seen}")


class _PlaySuite(_PlayTest):
    async def body(self) -> None:
        plan, params = self.testbench.plan, self.testbench.params
        region = program_region(_METADATA_BASE % (1 << params.address_bits))
        runs = list(suite_runs(params, plan["schedules"], plan["seed"]))
        for number, run in enumerate(runs, 1):
            result = await self.play(region, run.events())
            self.testbench.note({
                "run": run.benchmark.name, "schedule": run.schedule,
                "placement": run.placement.value, "done": number, "total": len(runs), **result,
            })  # fmt: skip


class _PlayTrace(_PlayTest):
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
        """The events, with a note on progress now and then."""
        for event in events:
            self._done += 1
            if monotonic() - self._noted > _NOTE_SECONDS:
                self._noted = monotonic()
                self.testbench.note({"done": self._done, "total": self._total})
            yield event


@cocotb.test()
async def play_suite(dut):
    await run_test(dut, _PlaySuite)


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
