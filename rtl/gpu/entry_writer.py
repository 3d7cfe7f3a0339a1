"""Entry writer: segments of metadata onto the write channels of an AXI4 port."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.axi import Axi4WriteSignature, is_error
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.region import index_bits, region_layout, segment_address


def entry_write(params: GpuParams) -> data.StructLayout:
    """A segment's entries, which of them are lost and not written, and its index."""
    return data.StructLayout({
        "entries": data.ArrayLayout(params.entry_bits, params.words_per_cycle),
        "lost": data.ArrayLayout(lost_bits(params), params.words_per_cycle),
        "index": index_bits(params),
    })  # fmt: skip


def lost_bits(params: GpuParams) -> int:
    """Width of the flag of an entry that could not be read and has not been overwritten since.

    A bank with a port of its own reads an entry only for an access to it, so it has no such flag.
    """
    return int(params.words_per_cycle > 1)


class EntryWriter(wiring.Component):
    """Writes segments with single-beat transfers, all of id 0, so that they stay in order.

    Latency is one cycle, throughput one segment a cycle.  Address and data go out independently.
    Responses are always accepted.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(entry_write(params)))``
        Segments to write.
    i_region : ``In(region_layout(params))``
        Address of the metadata.
    m_axi : ``Out(Axi4WriteSignature)``
        Write channels.
    o_done, o_error : ``Out(1)``
        Pulses: a response has come; it is an error.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(entry_write(params))),
            "i_region": In(region_layout(params)),
            "m_axi": Out(Axi4WriteSignature(
                address_bits=params.address_bits,
                data_bits=8 * params.segment_bytes,
                id_bits=slot_bits(params),
            )),
            "o_done": Out(1),
            "o_error": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        axi, params = self.m_axi, self._params
        write = Signal(entry_write(params))
        address_waits, entry_waits = (
            Signal(name=name) for name in ("address_waits", "entry_waits")
        )
        m.d.comb += [
            self.i.ready.eq((~address_waits | axi.awready) & (~entry_waits | axi.wready)),
            axi.awvalid.eq(address_waits),
            axi.awaddr.eq(segment_address(params, self.i_region, write.index)),
            axi.awsize.eq(params.segment_bytes.bit_length() - 1),
            axi.awburst.eq(AxiBurst.INCR),
            axi.wvalid.eq(entry_waits),
            axi.wdata.eq(write.entries),
            axi.wstrb.eq(Cat((~lost.any()).replicate(params.entry_bytes) for lost in write.lost)),
            axi.wlast.eq(1),
            axi.bready.eq(1),
            self.o_done.eq(axi.bvalid),
            self.o_error.eq(axi.bvalid & is_error(axi.bresp)),
        ]
        with m.If(axi.awready):
            m.d.sync += address_waits.eq(0)
        with m.If(axi.wready):
            m.d.sync += entry_waits.eq(0)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                address_waits.eq(1),
                entry_waits.eq(1),
                write.eq(self.i.p),
            ]
        return m
