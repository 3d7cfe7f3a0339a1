"""Monitored region: its layout for the banks, and the address of an access's metadata.

Ref: ScoRD (ISCA'20) Section IV-B.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import LINE_BYTES, GpuParams


def region_layout(params: GpuParams) -> data.Layout:
    """Byte addresses of data and metadata, log2 of the data's bytes; or a table of regions.

    For each region of a table: first line and the line after the last, number of its first segment
    in the address space, and segments in each turn of the banks, 0 if unused.
    """
    if params.regions > 1:
        line_bits = params.address_bits - (LINE_BYTES.bit_length() - 1)
        return data.ArrayLayout(
            data.StructLayout({
                "first": line_bits,
                "end": line_bits + 1,
                "segment": index_bits(params),
                "turns": turn_bits(params),
            }),
            params.regions,
        )  # fmt: skip
    return data.StructLayout({
        "data_base": params.address_bits,
        "size_log2": params.address_bits.bit_length(),
        "metadata_base": params.address_bits,
    })  # fmt: skip


def index_bits(params: GpuParams) -> int:
    """Bits of the largest region's segment index, at least one.

    With a table of regions an index is the number of a segment in the address space.
    """
    if params.regions > 1:
        return params.address_bits - (params.segment_bytes.bit_length() - 1)
    entry_bits = params.max_region_log2 - params.entry_share_log2
    return max(1, entry_bits - params.lane_bits)


def turn_bits(params: GpuParams) -> int:
    """Bits of the turns of the banks in a table's largest region: entries by ``bank_index_bits``.

    A region's first turn begins before it, so that a small one may have one more.
    """
    granule_bits = params.address_bits - params.granularity_bits
    return max(granule_bits - params.tag_bits - params.bank_index_bits, 0) + 2


def segment_address(params: GpuParams, region: data.View, index):
    """Byte address of the entries of segment ``index``."""
    offset = index << (params.segment_bytes.bit_length() - 1)
    return offset if params.regions > 1 else region.metadata_base + offset


class RegionDecoder(wiring.Component):
    """Segment and tag of a word address: its granule MOD and DIV the entries.

    Combinational from ``i_word``; the masks of the region follow ``i_region`` one cycle later. No
    subtraction or division is needed, since the size is a power of two and the base a multiple of
    it.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i_region : ``In(region_layout(params))``
        Monitored region.
    i_word : ``In(word_bits)``
        Word address (byte address divided by 4).
    o_monitored : ``Out(1)``
        The address lies in the region; otherwise index and tag are undefined.
    o_index, o_tag : ``Out(index_bits(params))``, ``Out(tag_bits)``
        Segment of metadata, which is one entry of each bank of a port, and which of the granules
        that share an entry.
    o_entries_log2 : ``Out(size_log2's width)``
        Log2 of the number of entries; combinational.
    """

    def __init__(self, params: GpuParams):
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
