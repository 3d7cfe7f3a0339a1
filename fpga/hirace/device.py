"""HiRace behind a UART: the contents of a board's top, without PLL and pins.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.boards.table import Board
from racetrap.fpga.gpu.device import system_device
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.hirace.system import HiraceSystem


def device_of(board: Board, params: HiraceParams, divisor: int) -> LinkedDevice:
    """The whole system."""
    return system_device(HiraceSystem, params, divisor)
