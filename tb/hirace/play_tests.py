"""cocotb test that plays a trace in its global order; its plan is that of ``PlayTrace``."""

from __future__ import annotations

import cocotb

from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.play_trace import PlayTrace
from racetrap.tb.hirace.environment import HiraceEnvironment


class _PlayTrace(PlayTrace):
    environment_class = HiraceEnvironment


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
