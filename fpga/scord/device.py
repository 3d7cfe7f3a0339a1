"""A ScoRD detector behind a UART: the contents of a board's top, without PLL and pins.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.boards.table import Board
from racetrap.fpga.gpu.device import system_device
from racetrap.fpga.scord.core_device import ScordCoreDevice
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.system import ScordSystem


def device_of(board: Board, params: ScordParams, divisor: int) -> LinkedDevice:
    """The whole system, or a core if it does not fit the board.

    Raises
    ------
    ValueError
        If the metadata are not on chip, or the parameters do not suit a core.
    """
    if board.core and params.local_bytes:
        return ScordCoreDevice(params, divisor)
    return system_device(ScordSystem, params, divisor)
