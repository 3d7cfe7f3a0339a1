"""cocotb tests of a board's causality at its UART pins; the plan is that of ``gpu_pins``."""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.fpga.causality.board import CausalityBoard
from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.params import CausalityParams
from tests.support.fpga.gpu_pins import GpuPins
from tests.support.fpga.pins import run_host

_PINS = GpuPins(CausalityParams, CausalityBoard, Causality)


@cocotb.test()
async def play_at_the_pins(dut: Any) -> None:
    await run_host(dut, _PINS.play)


@cocotb.test()
async def overload_the_pins(dut: Any) -> None:
    await run_host(dut, _PINS.overload)
