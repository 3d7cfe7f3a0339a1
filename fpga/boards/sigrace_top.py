"""A SigRace detector behind a UART: what a board's top has inside, without PLL and pins.

Ref: SigRace (ISCA'09) Section 3, Fig. 5.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.fpga.boards.status_lights import LIGHTS, StatusLights
from racetrap.golden_model.link.configuration import configuration_hash
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.link.link import Link
from racetrap.rtl.sigrace.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.sigrace.system import SigraceSystem

__all__ = ["SIGRACE_LINK", "SigraceDevice"]

#: Number of the detector in the link's hello.
SIGRACE_LINK = 2


class SigraceDevice(wiring.Component):
    """Link and system; conflicts are read from the log in the registers.

    Input channel n of the link takes the events of hardware context n, output channel n gives
    its trap records; reads and writes go to the registers.

    Parameters
    ----------
    params : SigraceParams
        Configuration; ``trace_port`` not set.
    divisor : int
        Clock cycles of a bit on the UART.
    credits : int
        Events that each context's queue holds.

    Members
    -------
    i_rx : ``In(1)``, o_tx : ``Out(1)``
        UART; the input may be asynchronous.
    o_leds : ``Out(4)``
        Link up, busy, conflict seen (a rollback is requested), error.

    Raises
    ------
    ValueError
        If there is a trace port.
    """

    def __init__(self, params: SigraceParams, divisor: int, *, credits: int = 8):
        if params.trace_port:
            raise ValueError("Parameter trace_port must be false on a board, not true")
        self._params = params
        self._divisor = divisor
        self._credits = credits
        super().__init__({"i_rx": In(1), "o_tx": Out(1), "o_leds": Out(len(LIGHTS))})

    def elaborate(self, platform):
        m = Module()
        params = self._params
        units = params.cores * params.contexts
        m.submodules.system = system = SigraceSystem(params)
        m.submodules.link = link = Link(
            system=SIGRACE_LINK,
            configuration=configuration_hash(params),
            input_bits=params.event_layout.width,
            inputs=units,
            output_bits=params.trap_layout.width,
            outputs=units,
            address_bits=REGISTER_ADDRESS_BITS,
            divisor=self._divisor,
            credits=self._credits,
        )
        m.submodules.lights = lights = StatusLights()
        m.d.comb += [link.i_rx.eq(self.i_rx), self.o_tx.eq(link.o_tx)]
        wiring.connect(m, link.m_axil, system.s_axil)
        for unit in range(units):
            record, event = link.o_record[unit], system.i_event[unit]
            trap, reply = system.o_trap[unit], link.i_record[unit]
            m.d.comb += [
                event.payload.eq(record.payload),
                event.valid.eq(record.valid),
                record.ready.eq(event.ready),
                reply.payload.eq(trap.payload),
                reply.valid.eq(trap.valid),
                trap.ready.eq(reply.ready),
            ]
        m.d.comb += [
            lights.i_link_up.eq(link.o_link_up),
            lights.i_busy.eq(~system.o_idle),
            lights.i_race.eq(system.irq),
            lights.i_error.eq(link.o_error),
            self.o_leds.eq(lights.o_lights),
        ]
        return m
