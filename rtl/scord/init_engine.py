"""Initialisation engine: makes all metadata of a port uninitialised at launch.

Ref: ScoRD (ISCA'20) Section IV ("all initialized to true for each entry").
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.entry_writer import entry_write
from racetrap.rtl.scord.region import index_bits

__all__ = ["InitEngine"]


class InitEngine(wiring.Component):
    """Writes uninitialised entries to every segment, one a cycle, and waits for the responses.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    port : int
        Number of the port: it writes its own segments (``golden_model.scord.interleaver.port_of``).

    Members
    -------
    i_start : ``In(1)``
        Pulse: begin.
    i_entries_log2 : ``In(address_bits.bit_length())``
        Log2 of the entries of the region, over all banks.
    o : ``Out(stream.Signature(entry_write(params)))``
        Segments to write.
    i_done : ``In(1)``
        Pulse: one write has been answered.
    o_busy : ``Out(1)``
        Writes are still to be sent or answered; until the cycle after the last answer.
    """

    def __init__(self, params: ScordParams, port: int):
        self._params = params
        self._port = port
        super().__init__({
            "i_start": In(1),
            "i_entries_log2": In(params.address_bits.bit_length()),
            "o": Out(stream.Signature(entry_write(params))),
            "i_done": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        # One bit more than an index: the end of the largest region is one beyond it.
        index = Signal(index_bits(self._params) + 1)
        unanswered = Signal.like(index)
        sending = Signal()
        port = Signal(range(max(self._params.metadata_ports, 2)))  # Verilog has no width of zero
        following = Signal.like(index)
        sent = self.o.valid & self.o.ready
        m.d.comb += [
            self.o.valid.eq(sending),
            self.o.p.index.eq(index),
            self._elaborate_following(following, index, port),
            port.eq(self._port),
        ]
        m.d.comb += [entry.eq(UNINITIALISED_ENTRY) for entry in self.o.p.entries]
        end = (self.i_entries_log2 - self._params.lane_bits)[: len(self.i_entries_log2)]
        m.d.sync += unanswered.eq(unanswered + sent - (self.i_done & self.o_busy))
        with m.If(~sending & (unanswered == 0)):
            m.d.sync += self.o_busy.eq(0)
        with m.If(sent):
            m.d.sync += [
                index.eq(following),
                # Steps are not larger than the region: its end is where this bit is first set.
                sending.eq(~following.bit_select(end, 1)),
            ]
        with m.If(self.i_start):
            m.d.sync += [index.eq(port), sending.eq(1), self.o_busy.eq(1)]
        return m

    def _elaborate_following(self, following, index, port):
        """Statement that sets ``following`` to the port's next segment.

        Its residue is larger by the odd number of ports, or the first of the next index.
        """
        low, odd = self._params.port_bits, self._params.odd_ports
        if odd == 1:
            return following.eq(index + (1 << low))
        high = low + self._params.residue_bits
        residue = index[low:high] + odd
        is_last = residue[high - low :].any()
        return following.eq(
            Cat(
                index[:low],
                Mux(is_last, port[low:], residue)[: high - low],
                index[high:] + is_last,
            )
        )
