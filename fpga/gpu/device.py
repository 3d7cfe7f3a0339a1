"""A GPU detector behind a UART: the contents of a board's top, without PLL and pins.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.fpga.boards.device import ReportingDevice
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.gpu.system import GpuSystem


def system_device(top: type[GpuSystem], params: GpuParams, divisor: int) -> ReportingDevice:
    """A whole system with its metadata on the chip; input channel n takes what SM n does.

    Parameters
    ----------
    top : type of GpuSystem
        The detector's system.
    params : GpuParams
        Configuration; ``local_bytes`` set and ``trace_port`` not.
    divisor : int
        Clock cycles of a bit on the UART.

    Raises
    ------
    ValueError
        If the metadata are not on the chip.
    """
    if not params.local_bytes:
        raise ValueError("Parameter local_bytes must be positive on a board, not 0")
    system = top(params)
    return ReportingDevice(params, system, list(system.i_transaction), divisor)
