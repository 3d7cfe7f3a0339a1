"""Monitored region: its registers' layout, and where an address' metadata is.

Ref: ScoRD (ISCA'20) Section IV-B.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams

__all__ = ["RegionDecoder", "index_bits", "region_layout", "segment_address"]


def region_layout(params: ScordParams) -> data.StructLayout:
    """What software configures: byte addresses of data and metadata, log2 of the data's bytes."""
    return data.StructLayout({
        "data_base": params.address_bits,
        "size_log2": params.address_bits.bit_length(),
        "metadata_base": params.address_bits,
    })  # fmt: skip


def index_bits(params: ScordParams) -> int:
    """Bits of the largest region's segment index, at least one."""
    entry_bits = params.max_region_log2 - params.granularity_bits - params.tag_bits
    return max(1, entry_bits - params.lane_bits)


def segment_address(params: ScordParams, region: data.View, index):
    """Byte address of the entries of segment ``index``."""
    return region.metadata_base + (index << (params.segment_bytes.bit_length() - 1))


class RegionDecoder(wiring.Component):
    """Segment and tag of a word address: its granule MOD and DIV the entries.

    Combinational from ``i_word``; the masks of the region follow ``i_region`` one cycle later.
    Base and size make no subtraction or division necessary, since the size is a
    power of two and the base a multiple of it.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_region : ``In(region_layout(params))``
        Monitored region.
    i_word : ``In(word_bits)``
        Word address (byte address divided by 4).
    o_monitored : ``Out(1)``
        The address lies in the region; otherwise index and tag mean nothing.
    o_index, o_tag : ``Out(index_bits(params))``, ``Out(tag_bits)``
        Segment of metadata, which is one entry of each bank of a port, and which of the granules
        that share an entry.
    o_entries_log2 : ``Out(size_log2's width)``
        Log2 of the number of entries; combinational.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_region": In(region_layout(params)),
            "i_word": In(params.word_bits),
            "o_monitored": Out(1),
            "o_index": Out(index_bits(params)),
            "o_tag": Out(params.tag_bits),
            "o_entries_log2": Out(params.address_bits.bit_length()),
        })  # fmt: skip

    def elaborate(self, platform):
        params = self._params
        m = Module()
        shift = params.granularity_bits - 2
        granule = Signal(params.address_bits - params.granularity_bits)
        entries_log2 = Signal.like(self.o_entries_log2)
        word_mask = Signal(params.word_bits)
        outside = (self.i_word ^ (self.i_region.data_base >> 2)) & ~word_mask
        # Thermometer codes: the entry index is narrower than a word by granule and tag.
        m.d.sync += [
            word_mask.eq((1 << (self.i_region.size_log2 - 2)[: len(entries_log2)]) - 1),
            entries_log2.eq(self.o_entries_log2),
        ]
        m.d.comb += [
            self.o_entries_log2.eq(
                self.i_region.size_log2 - params.granularity_bits - params.tag_bits
            ),
            self.o_monitored.eq(outside == 0),
            granule.eq(self.i_word >> shift),
            self.o_index.eq((granule & (word_mask >> shift + params.tag_bits)) >> params.lane_bits),
            self.o_tag.eq(granule >> entries_log2),
        ]
        return m
