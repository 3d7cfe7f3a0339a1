"""A ScoRD detector behind a UART: what a board's top has inside, without PLL and pins.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module

from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.boards.table import Board
from racetrap.fpga.scord.core_device import ScordCoreDevice
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.report_writer import RECORD_BYTES
from racetrap.rtl.common.stream import assign_stream
from racetrap.rtl.scord.system import ScordSystem


class ScordDevice(LinkedDevice):
    """Link and system, with metadata on the chip and the report ring turned into a stream.

    Input channel n of the link is SM n, its records are transactions; output channel 0 has the
    32-byte records of race reports; reads and writes go to the registers.  ``REPORT_TAIL``
    still limits the records in flight, so a host advances it as it pulls them.

    Parameters
    ----------
    params : ScordParams
        Configuration; ``local_bytes`` set and ``trace_port`` not.
    divisor : int
        Clock cycles of a bit on the UART.
    credits : int
        Transactions that each SM's queue holds.
    report_depth : int
        Records held for the host.

    Raises
    ------
    ValueError
        If there is a trace port.
    """

    def __init__(
        self, params: ScordParams, divisor: int, *, credits: int = 8, report_depth: int = 16
    ):
        super().__init__(params, divisor, credits)
        self._params = params
        self._report_depth = report_depth

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.system = system = ScordSystem(params)
        link = self._elaborate_link(
            m,
            input_bits=params.transaction_layout.width,
            inputs=params.sm_count,
            output_bits=8 * RECORD_BYTES,
            outputs=1,
        )
        sink = self._elaborate_reports(
            m, link, system, address_bits=params.address_bits, depth=self._report_depth
        )
        for record, transaction in zip(link.o_record, system.i_transaction, strict=True):
            assign_stream(m, transaction, record)
        busy = Cat(record.valid for record in link.o_record).any()
        self._elaborate_lights(m, link, busy=busy, race=sink.o_taken)
        return m


def device_of(board: Board, params: ScordParams, divisor: int) -> LinkedDevice:
    """The whole system, or a core where that does not fit the board.

    Raises
    ------
    ValueError
        If the metadata are not on the chip, or the parameters do not suit a core.
    """
    if not params.local_bytes:
        raise ValueError("Parameter local_bytes must be positive on a board, not 0")
    return ScordCoreDevice(params, divisor) if board.core else ScordDevice(params, divisor)
