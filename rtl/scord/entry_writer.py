"""Entry writer: metadata entries onto the write channels of an AXI4 port."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.scord.params import ENTRY_BITS, ENTRY_BYTES, ScordParams
from racetrap.rtl.common.axi import Axi4WriteSignature, is_error
from racetrap.rtl.scord.hazard_window import slot_bits
from racetrap.rtl.scord.region import entry_address, index_bits, region_layout

__all__ = ["EntryWriter", "entry_write"]


def entry_write(params: ScordParams) -> data.StructLayout:
    """An entry and its place."""
    return data.StructLayout({"entry": ENTRY_BITS, "index": index_bits(params)})


class EntryWriter(wiring.Component):
    """Writes entries with single-beat transfers, all of id 0, so that they stay in order.

    Latency is one cycle, throughput one entry a cycle.  Address and data go out independently.
    Responses are always accepted.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(entry_write(params)))``
        Entries to write.
    i_region : ``In(region_layout(params))``
        Place of the metadata.
    m_axi : ``Out(Axi4WriteSignature)``
        Write channels.
    o_done, o_error : ``Out(1)``
        Pulses: a response has come; it is an error.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(entry_write(params))),
            "i_region": In(region_layout(params)),
            "m_axi": Out(Axi4WriteSignature(
                address_bits=params.address_bits,
                data_bits=ENTRY_BITS,
                id_bits=slot_bits(params),
            )),
            "o_done": Out(1),
            "o_error": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        axi = self.m_axi
        write = Signal(entry_write(self._params))
        address_waits, entry_waits = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq((~address_waits | axi.awready) & (~entry_waits | axi.wready)),
            axi.awvalid.eq(address_waits),
            axi.awaddr.eq(entry_address(self.i_region, write.index)),
            axi.awsize.eq(ENTRY_BYTES.bit_length() - 1),
            axi.awburst.eq(AxiBurst.INCR),
            axi.wvalid.eq(entry_waits),
            axi.wdata.eq(write.entry),
            axi.wstrb.eq(Const(-1, ENTRY_BYTES)),
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
