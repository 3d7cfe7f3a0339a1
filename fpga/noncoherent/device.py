"""A bus monitor behind a UART: what a board's top has inside, without PLL and pins.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from amaranth.hdl import Module

from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.boards.table import Board
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.report_writer import RECORD_BYTES
from racetrap.rtl.common.stream import assign_stream
from racetrap.rtl.noncoherent.system import NoncoherentSystem


class NoncoherentDevice(LinkedDevice):
    """Link and system, with the report ring turned into a stream.

    Input channel 0 of the link takes operations, output channel 0 gives the 32-byte records of
    reports; reads and writes go to the registers.  ``REPORT_TAIL`` still limits the records in
    flight, so a host advances it as it pulls them.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration; ``trace_port`` not set.
    divisor : int
        Clock cycles of a bit on the UART.
    credits : int
        Operations that the queue holds.
    report_depth : int
        Records held for the host.

    Raises
    ------
    ValueError
        If there is a trace port.
    """

    def __init__(
        self, params: NoncoherentParams, divisor: int, *, credits: int = 8, report_depth: int = 16
    ):
        super().__init__(params, divisor, credits)
        self._params = params
        self._report_depth = report_depth

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.system = system = NoncoherentSystem(params)
        link = self._elaborate_link(
            m,
            input_bits=params.operation_layout.width,
            inputs=1,
            output_bits=8 * RECORD_BYTES,
            outputs=1,
        )
        sink = self._elaborate_reports(
            m, link, system, address_bits=params.address_bits, depth=self._report_depth
        )
        operations = link.o_record[0]
        assign_stream(m, system.i_operation, operations)
        self._elaborate_lights(m, link, busy=operations.valid, race=sink.o_taken)
        return m


def device_of(board: Board, params: NoncoherentParams, divisor: int) -> LinkedDevice:
    """The device inside a board's top."""
    return NoncoherentDevice(params, divisor)
