"""A ScoRD detector behind a UART: the contents of a board's top, without PLL and pins.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.fpga.boards.device import LinkedDevice, ReportingDevice
from racetrap.fpga.boards.table import Board
from racetrap.fpga.scord.core_device import ScordCoreDevice
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.system import ScordSystem


def device_of(board: Board, params: ScordParams, divisor: int) -> LinkedDevice:
    """The whole system, or a core if it does not fit the board.

    Metadata are on the chip.  Input channel n takes the transactions of SM n.

    Raises
    ------
    ValueError
        If the metadata are not on chip, or the parameters do not suit a core.
    """
    if not params.local_bytes:
        raise ValueError("Parameter local_bytes must be positive on a board, not 0")
    if board.core:
        return ScordCoreDevice(params, divisor)
    system = ScordSystem(params)
    return ReportingDevice(params, system, list(system.i_transaction), divisor)
