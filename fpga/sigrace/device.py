"""A SigRace detector behind a UART: what a board's top has inside, without PLL and pins.

Ref: SigRace (ISCA'09) Section 3, Fig. 5.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring

from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.boards.table import Board
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.stream import assign_stream
from racetrap.rtl.sigrace.system import SigraceSystem


class SigraceDevice(LinkedDevice):
    """Link and system; conflicts are read from the log in the registers.

    Input channel n of the link takes the events of hardware context n, output channel n gives
    its trap records; reads and writes go to the registers.  The third light means that a
    rollback is requested.

    Parameters
    ----------
    params : SigraceParams
        Configuration; ``trace_port`` not set.
    divisor : int
        Clock cycles of a bit on the UART.
    credits : int
        Events that each context's queue holds.

    Raises
    ------
    ValueError
        If there is a trace port.
    """

    def __init__(self, params: SigraceParams, divisor: int, *, credits: int = 8):
        super().__init__(params, divisor, credits)
        self._params = params

    def elaborate(self, platform):
        m = Module()
        params = self._params
        units = params.cores * params.contexts
        m.submodules.system = system = SigraceSystem(params)
        link = self._elaborate_link(
            m,
            input_bits=params.event_layout.width,
            inputs=units,
            output_bits=params.trap_layout.width,
            outputs=units,
        )
        wiring.connect(m, link.m_axil, system.s_axil)
        for unit in range(units):
            assign_stream(m, system.i_event[unit], link.o_record[unit])
            assign_stream(m, link.i_record[unit], system.o_trap[unit])
        self._elaborate_lights(m, link, busy=~system.o_idle, race=system.irq)
        return m


def device_of(board: Board, params: SigraceParams, divisor: int) -> LinkedDevice:
    """The device inside a board's top."""
    return SigraceDevice(params, divisor)
