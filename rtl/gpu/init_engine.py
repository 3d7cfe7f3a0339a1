"""Initialisation engine: makes all metadata of a port uninitialised at launch.

Ref: ScoRD (ISCA'20) Section IV ("all initialized to true for each entry").
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.gpu.entry_writer import entry_write
from racetrap.rtl.gpu.region import index_bits, region_layout, turn_bits


def engine_index_bits(params: GpuParams) -> int:
    """Bits of an engine's next index: one bit more than an index, the end of the largest region.

    With a table of regions it counts from the first segment of one, whose number is above.
    """
    if params.regions == 1:
        return index_bits(params) + 1
    turn_segments = params.bank_index_bits - params.lane_bits
    return turn_bits(params) + turn_segments + 1 + (params.regions - 1).bit_length()


class InitEngine(wiring.Component):
    """Writes uninitialised entries to every segment, one a cycle, and waits for the responses.

    It skips those that have a bit in the table of valid segments.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i_port : ``In(range(metadata_ports))``
        Number of the port, a constant: it writes its own segments
        (``golden_model.gpu.interleaver.port_of``).
    i_start : ``In(1)``
        Pulse: begin.
    i_entries_log2 : ``In(address_bits.bit_length())``
        Log2 of the entries of the region, over all banks.
    i_region : ``In(region_layout(params))``
        The table of regions instead, if there are several: they are written one after the other.
    o : ``Out(stream.Signature(entry_write(params)))``
        Segments to write.
    i_done : ``In(1)``
        Pulse: one write has been answered.
    o_busy : ``Out(1)``
        Writes are still to be sent or answered; falls in the cycle after the last answer.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        region = {"i_entries_log2": In(params.address_bits.bit_length())}
        if params.regions > 1:
            region = {"i_region": In(region_layout(params))}
        super().__init__({
            "i_port": In(range(params.metadata_ports)),
            "i_start": In(1),
            **region,
            "o": Out(stream.Signature(entry_write(params))),
            "i_done": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        index = Signal(engine_index_bits(params))
        unanswered = Signal.like(index)
        sending = Signal()
        following = Signal.like(index)
        sent = self.o.valid & self.o.ready
        m.d.comb += [
            self.o.valid.eq(sending),
            self.o.p.index.eq(index),
            self._elaborate_following(following, index),
        ]
        m.d.comb += [entry.eq(params.uninitialised_entry) for entry in self.o.p.entries]
        m.d.sync += unanswered.eq(unanswered + sent - (self.i_done & self.o_busy))
        with m.If(~sending & (unanswered == 0)):
            m.d.sync += self.o_busy.eq(0)
        if params.regions > 1:
            self._elaborate_table(m, index, following, sending)
        else:
            end = (self.i_entries_log2 - params.lane_bits)[: len(self.i_entries_log2)]
            with m.If(sent):
                m.d.sync += [
                    index.eq(following),
                    # Steps are not larger than the region: its end is where this bit is first set.
                    sending.eq(~following.bit_select(end, 1)),
                ]
        first = params.valid_share << params.port_shift
        with m.If(self.i_start):
            m.d.sync += [index.eq(self.i_port), sending.eq(1), self.o_busy.eq(1)]
            if first:
                m.d.sync += index.eq(self.i_port | first)
                if params.regions == 1:
                    m.d.sync += sending.eq(end > first.bit_length() - 1)
        return m

    def _elaborate_table(self, m: Module, index, following, sending) -> None:
        """Region after region: ``index`` holds its number, above that of the segment in it.

        One that is not used, or has a bit for each segment, takes a cycle.
        """
        params = self._params
        bits = len(index) - (params.regions - 1).bit_length()
        number, turn_segments = index[bits:], params.bank_index_bits - params.lane_bits
        first = params.valid_share << params.port_shift
        region = Signal(self.i_region.shape().elem_shape)
        is_used, is_last = Signal(name="is_used"), Signal(name="is_last")
        m.d.comb += [
            region.eq(self.i_region[number]),
            is_used.eq(region.turns > first >> turn_segments if first else region.turns != 0),
            is_last.eq(following[:bits] >= region.turns << turn_segments),
            self.o.valid.eq(sending & is_used),
            self.o.p.index.eq(region.segment + index[:bits]),
        ]
        with m.If(sending & (self.o.ready | ~is_used)):
            with m.If(is_used & ~is_last):
                m.d.sync += index.eq(following)
            with m.Else():
                m.d.sync += [
                    index.eq(Cat(self.i_port | Const(first, bits), number + 1)),
                    sending.eq(number != params.regions - 1),
                ]

    def _elaborate_following(self, following, index):
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
                Mux(is_last, self.i_port[low:], residue)[: high - low],
                index[high:] + is_last,
            )
        )
