"""Base of every device behind a UART: link, lights, and the ports to a board's pins."""

from __future__ import annotations

from amaranth.hdl import Module, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.fpga.boards.report_sink import ReportSink
from racetrap.fpga.boards.status_lights import LIGHTS, StatusLights
from racetrap.generators.system import Params
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.hello import Hello
from racetrap.rtl.link.link import Link
from racetrap.rtl.link.uart import Uart


class LinkedDevice(wiring.Component):
    """A detector behind a UART; what is behind the link is the subclass's own.

    Parameters
    ----------
    params : Params
        Configuration; ``trace_port`` not set.
    divisor : int
        Clock cycles of a bit on the UART.
    credits : int
        Records that each input channel holds.

    Members
    -------
    i_rx : ``In(1)``, o_tx : ``Out(1)``
        UART; the input may be asynchronous.
    o_leds : ``Out(4)``
        Link up, busy, race seen, error.

    Raises
    ------
    ValueError
        If there is a trace port.
    """

    def __init__(self, params: Params, divisor: int, credits: int):
        if params.trace_port:
            raise ValueError(
                "Parameter trace_port must be false on a board: add --set trace_port=false"
            )
        self._divisor = divisor
        self._credits = credits
        self._configuration = configuration_hash(params)
        super().__init__({"i_rx": In(1), "o_tx": Out(1), "o_leds": Out(len(LIGHTS))})

    def _elaborate_link(
        self, m: Module, *, input_bits: int, inputs: int, output_bits: int, outputs: int
    ) -> Link:
        """The link at the pins, for records of these sizes."""
        hello = Hello.of(
            self._configuration, input_bits=input_bits, inputs=inputs,
            output_bits=output_bits, outputs=outputs, credits=self._credits,
        )  # fmt: skip
        m.submodules.link = link = Link(hello)
        m.submodules.uart = uart = Uart(self._divisor)
        wiring.connect(m, uart.o, link.i)
        wiring.connect(m, link.o, uart.i)
        m.d.comb += [uart.i_rx.eq(self.i_rx), self.o_tx.eq(uart.o_tx)]
        return link

    def _elaborate_reports(
        self, m: Module, link: Link, system: wiring.Component, *, address_bits: int, depth: int
    ) -> ReportSink:
        """Registers and report ring of a system, whose records go to output channel 0."""
        m.submodules.sink = sink = ReportSink(address_bits=address_bits, depth=depth)
        wiring.connect(m, link.m_axil, system.s_axil)
        wiring.connect(m, system.m_axi_report, sink.s_axi)
        wiring.connect(m, sink.o_record, link.i_record[0])
        return sink

    def _elaborate_lights(
        self, m: Module, link: Link, *, busy: ValueLike, race: ValueLike, error: ValueLike = 0
    ) -> None:
        """Lights of the link and of what the detector says beside it."""
        m.submodules.lights = lights = StatusLights()
        m.d.comb += [
            lights.i_link_up.eq(link.o_link_up),
            lights.i_busy.eq(busy),
            lights.i_race.eq(race),
            lights.i_error.eq(link.o_error | error),
            self.o_leds.eq(lights.o_lights),
        ]
