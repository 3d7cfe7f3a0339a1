"""cocotb test that plays a trace in its global order; its plan is that of ``PlayTrace``."""

from __future__ import annotations

import cocotb

from racetrap.tb.base_test import run_test
from racetrap.tb.causality.environment import CausalityEnvironment
from racetrap.tb.gpu.play_trace import PlayTrace


class _PlayTrace(PlayTrace):
    environment_class = CausalityEnvironment


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
