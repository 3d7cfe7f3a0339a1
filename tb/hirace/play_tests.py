"""cocotb test that plays a trace in its global order; its plan is that of ``PlayTrace``."""

from __future__ import annotations

from collections.abc import Iterable

import cocotb

from racetrap.golden_model.events import Event
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import Transaction
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.sim.cosim.hirace.fast_compare import transactions_of
from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.play_trace import PlayTrace
from racetrap.tb.hirace.environment import HiraceEnvironment


class _PlayTrace(PlayTrace):
    environment_class, model_class, report_class = HiraceEnvironment, Hirace, RaceReport

    def transactions(self, event: Event) -> Iterable[tuple[int, Transaction]]:
        return transactions_of([event], self.testbench.params)


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
