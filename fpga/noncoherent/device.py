"""A bus monitor behind a UART: the contents of a board's top, without PLL and pins.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from racetrap.fpga.boards.device import LinkedDevice, ReportingDevice
from racetrap.fpga.boards.table import Board
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.system import NoncoherentSystem


def device_of(board: Board, params: NoncoherentParams, divisor: int) -> LinkedDevice:
    """The device inside a board's top, whose input channel 0 takes operations."""
    system = NoncoherentSystem(params)
    return ReportingDevice(params, system, [system.i_operation], divisor)
