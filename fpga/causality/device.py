"""Causality behind a UART: the contents of a board's top, without PLL and pins.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.boards.table import Board
from racetrap.fpga.gpu.device import system_device
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.system import CausalitySystem


def device_of(board: Board, params: CausalityParams, divisor: int) -> LinkedDevice:
    """The whole system."""
    return system_device(CausalitySystem, params, divisor)
