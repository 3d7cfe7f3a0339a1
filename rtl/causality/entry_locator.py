"""Entry locator: the entry and tag of a word of global memory, or of a block's shared memory.

Ref: ScoRD (ISCA'20) Section IV-B (a tag distinguishes words that share an entry).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.gpu.metadata_accessor import located_segment
from racetrap.rtl.gpu.region import RegionDecoder, region_layout


class EntryLocator(wiring.Component):
    """Finds a packet's entry; latency is one cycle, throughput a packet a cycle.

    The upper half of the entries are those of the window for shared memory, whose words are
    numbered as if they were a region's.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(segment_layout))``
        Packets.
    o : ``Out(stream.Signature(located_segment(params)))``
        The same with the place and the tag of their entries.
    i_region : ``In(region_layout(params))``
        Monitored region.
    o_entries_log2 : ``Out(address_bits.bit_length())``
        Log2 of all entries, from a register: it is needed when metadata are cleared.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.segment_layout))),
            "o": Out(stream.Signature(located_segment(params))),
            "i_region": In(region_layout(params)),
            "o_entries_log2": Out(params.address_bits.bit_length()),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.decoder = decoder = RegionDecoder(params)
        m.submodules.located = located = StreamRegister(located_segment(params))
        wiring.connect(m, located.o, wiring.flipped(self.o))
        packet, place = self.i.payload, located.i.payload
        is_access, shift = packet.kind <= PacketKind.ATOMIC, params.shared_words_log2
        m.d.comb += [
            decoder.i_region.eq(self.i_region),
            decoder.i_word.eq(packet.word),
            located.i.valid.eq(self.i.valid),
            self.i.ready.eq(located.i.ready),
            place.segment.eq(packet),
            place.monitored.eq(is_access & decoder.o_monitored),
            place.index.eq(decoder.o_index),
            place.tag.eq(decoder.o_tag),
        ]
        m.d.sync += self.o_entries_log2.eq(decoder.o_entries_log2 + (params.shared_bytes > 0))
        with m.If(packet.shared):
            if params.shared_bytes:
                half = (Const(1) << decoder.o_entries_log2)[: len(place.index)]
                m.d.comb += [
                    decoder.i_word.eq(Cat(packet.word[:shift], packet.block)),
                    place.monitored.eq(is_access & ~packet.word[shift:].any()),
                    place.index.eq(decoder.o_index | half),
                ]
            else:
                m.d.comb += place.monitored.eq(0)
        return m
