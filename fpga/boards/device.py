"""Base of every device behind a UART: link, lights, and the ports to a board's pins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Shape, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.fpga.boards.report_sink import ReportSink
from racetrap.fpga.boards.status_lights import LIGHTS, StatusLights
from racetrap.generators.system import Params
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.hello import Hello
from racetrap.rtl.common.report_writer import RECORD_BYTES
from racetrap.rtl.common.stream import assign_stream
from racetrap.rtl.link.link import Link
from racetrap.rtl.link.uart import Uart


class LinkedDevice(wiring.Component):
    """A detector behind a UART; the subclass adds what is behind the link.

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

    def _elaborate_lights(
        self, m: Module, link: Link, *, busy: ValueLike, race: ValueLike, error: ValueLike = 0
    ) -> None:
        """Lights of the link and of the detector."""
        m.submodules.lights = lights = StatusLights()
        m.d.comb += [
            lights.i_link_up.eq(link.o_link_up),
            lights.i_busy.eq(busy),
            lights.i_race.eq(race),
            lights.i_error.eq(link.o_error | error),
            self.o_leds.eq(lights.o_lights),
        ]


class ReportingDevice(LinkedDevice):
    """A system that reports in a ring, which is turned into a stream: output channel 0.

    Input channels of the link take what the system checks; output channel 0 gives the 32-byte
    records of reports; reads and writes go to the registers.  ``REPORT_TAIL`` still limits the
    records in flight, so a host advances it as it pulls them.

    Parameters
    ----------
    params : Params
        Configuration; ``trace_port`` not set.
    system : component
        The system.
    inputs : sequence of stream
        Its inputs, which the input channels feed.
    divisor : int
        Clock cycles of a bit on the UART.
    credits : int
        Records that each input channel holds.
    report_depth : int
        Records held for the host.

    Raises
    ------
    ValueError
        If there is a trace port.
    """

    def __init__(
        self, params: Any, system: Any, inputs: Sequence[Any], divisor: int, *, credits: int = 8,
        report_depth: int = 16,
    ):  # fmt: skip
        super().__init__(params, divisor, credits)
        self._system, self._inputs = system, inputs
        self._address_bits, self._report_depth = params.address_bits, report_depth

    def elaborate(self, platform):
        m = Module()
        m.submodules.system = system = self._system
        link = self._elaborate_link(
            m,
            input_bits=Shape.cast(self._inputs[0].payload.shape()).width,
            inputs=len(self._inputs),
            output_bits=8 * RECORD_BYTES,
            outputs=1,
        )
        m.submodules.sink = sink = ReportSink(
            address_bits=self._address_bits, depth=self._report_depth
        )
        wiring.connect(m, link.m_axil, system.s_axil)
        wiring.connect(m, system.m_axi_report, sink.s_axi)
        wiring.connect(m, sink.o_record, link.i_record[0])
        for record, port in zip(link.o_record, self._inputs, strict=True):
            assign_stream(m, port, record)
        busy = Cat(record.valid for record in link.o_record).any()
        self._elaborate_lights(m, link, busy=busy, race=sink.o_taken)
        return m
