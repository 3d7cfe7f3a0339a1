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
from racetrap.golden_model.scord.params import Region
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import read_gpu_trace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.scord.random_events import transactions_of
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.tb.base_test import run_test
from racetrap.tb.scord.scord_test import ScordTest
from racetrap.tb.scord.sequences import PlayInOrder

__all__ = ["play_suite", "play_trace"]

_RING_LOG2 = 8
_METADATA_BASE = 1 << 32
#: Events between two looks at the ring buffer, and seconds between notes on progress.
_DRAIN_EVENTS = 64
_NOTE_SECONDS = 0.2


class _PlayTest(ScordTest):
    """Plays kernels one after the other."""

    async def play(self, region: Region, events: Iterable[Event]) -> dict[str, Any]:
        """Play one kernel; gives its races by both, and cycles."""
        bench, environment = self.bench, self.environment
        golden = Scord(bench.params, region)
        await environment.launch(region, _RING_LOG2)
        first_cycle = bench.clocking.cycle
        for number, event in enumerate(events, 1):
            golden.run(event)
            transactions = transactions_of([event], bench.params)
            await PlayInOrder(environment, bench, transactions).start()
            if number % _DRAIN_EVENTS == 0:
                await environment.software.drain()
        cycles = bench.clocking.cycle - first_cycle
        counters = await environment.finish()
        races = [
            RaceReport.from_step(bench.params, step, bank)
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

    def _compare(self, golden: list[RaceReport], seen: list[RaceReport]) -> None:
        """In global order nothing is left for the device to choose: the races are the same.

        Steps of one event may be in several banks, whose order among themselves is open.
        """
        layout = self.bench.params.report_layout

        def body(race: RaceReport) -> int:
            return race.record() & ~(((1 << 32) - 1) << layout.offset("sequence"))

        if sorted(map(body, golden)) != sorted(map(body, seen)):
            raise Mismatch(f"Races must be {golden}, not {seen}")


class _PlaySuite(_PlayTest):
    async def body(self) -> None:
        plan, params = self.bench.plan, self.bench.params
        region = program_region(_METADATA_BASE % (1 << params.address_bits))
        runs = list(suite_runs(params, plan["schedules"], plan["seed"]))
        for number, run in enumerate(runs, 1):
            result = await self.play(region, run.events())
            self.bench.note({
                "run": run.benchmark.name, "schedule": run.schedule,
                "placement": run.placement.value, "done": number, "total": len(runs), **result,
            })  # fmt: skip


class _PlayTrace(_PlayTest):
    async def body(self) -> None:
        trace = read_gpu_trace(self.bench.plan["trace"])
        self._done, self._total, self._noted = 0, len(trace), monotonic()
        kernel: list[Event] = []
        for event in trace:
            kernel.append(event)
            if event.kind == EventKind.KERNEL_END:
                result = await self.play(self.region(), self._counted(kernel))
                self.bench.note({"kernel": True, **result})
                kernel = []

    def _counted(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with a note on progress now and then."""
        for event in events:
            self._done += 1
            if monotonic() - self._noted > _NOTE_SECONDS:
                self._noted = monotonic()
                self.bench.note({"done": self._done, "total": self._total})
            yield event


@cocotb.test()
async def play_suite(dut):
    await run_test(dut, _PlaySuite)


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
