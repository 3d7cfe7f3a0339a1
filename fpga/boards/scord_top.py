"""A ScoRD detector behind a UART: what a board's top has inside, without PLL and pins.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.fpga.boards.report_sink import ReportSink
from racetrap.fpga.boards.status_lights import LIGHTS, StatusLights
from racetrap.golden_model.link.configuration import configuration_hash
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.link.link import Link
from racetrap.rtl.scord.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.scord.report_writer import RECORD_BYTES
from racetrap.rtl.scord.system import ScordSystem

__all__ = ["SCORD_LINK", "ScordDevice"]

#: Number of the detector in the link's hello.
SCORD_LINK = 1


class ScordDevice(wiring.Component):
    """Link and system, with metadata on the chip and the report ring turned into a stream.

    Input channel n of the link is SM n, its records are transactions; output channel 0 has the
    32-byte records of race reports; reads and writes go to the registers.  ``REPORT_TAIL``
    still limits the records under way, so a host advances it as it pulls them.

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

    Members
    -------
    i_rx : ``In(1)``, o_tx : ``Out(1)``
        UART; the input may be asynchronous.
    o_leds : ``Out(4)``
        Link up, busy, race seen, error.

    Raises
    ------
    ValueError
        If the metadata are not on the chip, or there is a trace port.
    """

    def __init__(
        self, params: ScordParams, divisor: int, *, credits: int = 8, report_depth: int = 16
    ):
        if not params.local_bytes:
            raise ValueError("Parameter local_bytes must be positive on a board, not 0")
        if params.trace_port:
            raise ValueError("Parameter trace_port must be false on a board, not true")
        self._params = params
        self._divisor = divisor
        self._credits = credits
        self._report_depth = report_depth
        super().__init__({"i_rx": In(1), "o_tx": Out(1), "o_leds": Out(len(LIGHTS))})

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.system = system = ScordSystem(params)
        m.submodules.link = link = Link(
            system=SCORD_LINK,
            configuration=configuration_hash(params),
            input_bits=params.transaction_layout.width,
            inputs=params.sm_count,
            output_bits=8 * RECORD_BYTES,
            outputs=1,
            address_bits=REGISTER_ADDRESS_BITS,
            divisor=self._divisor,
            credits=self._credits,
        )
        m.submodules.sink = sink = ReportSink(
            address_bits=params.address_bits, depth=self._report_depth
        )
        m.submodules.lights = lights = StatusLights()
        m.d.comb += [link.i_rx.eq(self.i_rx), self.o_tx.eq(link.o_tx)]
        wiring.connect(m, link.m_axil, system.s_axil)
        wiring.connect(m, system.m_axi_report, sink.s_axi)
        wiring.connect(m, sink.o_record, link.i_record[0])
        busy = Signal()
        for record, transaction in zip(link.o_record, system.i_transaction, strict=True):
            m.d.comb += [
                transaction.payload.eq(record.payload),
                transaction.valid.eq(record.valid),
                record.ready.eq(transaction.ready),
            ]
            with m.If(record.valid):
                m.d.comb += busy.eq(1)
        m.d.comb += [
            lights.i_link_up.eq(link.o_link_up),
            lights.i_busy.eq(busy),
            lights.i_race.eq(sink.o_taken),
            lights.i_error.eq(link.o_error),
            self.o_leds.eq(lights.o_lights),
        ]
        return m
