"""Harness for a proof on the entry writer: what is taken goes out once, in order, unchanged."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.gpu.params import ENTRY_BYTES
from racetrap.golden_model.scord.params import ScordParams
from tests.support.formal.axi import keeps_page, stays
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILE = "gpu/entry_writer.py"
_COUNT_BITS = 3


class WriterHarness(Harness):
    """An entry writer with free segments and a free memory, and counts of both its channels.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        module = modules_with([_FILE], case.bug)[_FILE]
        self._writer = module.EntryWriter(params)
        super().__init__(case, {
            "i_valid": In(1), "i_payload": In(module.entry_write(params)),
            "i_base": In(params.address_bits), "i_awready": In(1), "i_wready": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.writer = writer = self._writer
        axi, size = writer.m_axi, self._params.segment_bytes
        base, started = Signal.like(self.i_base), Signal()
        m.d.sync += [base.eq(self.i_base), started.eq(1)]
        m.d.comb += [
            writer.i.valid.eq(self.i_valid),
            writer.i.payload.eq(self.i_payload),
            writer.i_region.metadata_base.eq(self.i_base),
            axi.awready.eq(self.i_awready),
            axi.wready.eq(self.i_wready),
            # The region stays as it is, and begins with a whole segment.
            Assume(~started | (self.i_base == base)),
            Assume((self.i_base & (size - 1)) == 0),
        ]
        taken = self.i_valid & writer.i.ready
        last = Signal.like(self.i_payload)
        counts = [Signal(_COUNT_BITS, name=f"{name}s") for name in ("item", "address", "word")]
        steps = (taken, axi.awvalid & self.i_awready, axi.wvalid & self.i_wready)
        m.d.sync += [count.eq(count + step) for count, step in zip(counts, steps, strict=True)]
        with m.If(taken):
            m.d.sync += last.eq(self.i_payload)
        items, addresses, words = counts
        strobes = Cat(
            (Value.cast(lost) == 0).replicate(ENTRY_BYTES) for lost in last.lost
        )  # fmt: skip
        rules = [
            # One item is held at most, and each channel has still to send it or has sent it.
            axi.awvalid == (addresses != items),
            axi.wvalid == (words != items),
            (items - addresses)[:_COUNT_BITS] <= 1,
            (items - words)[:_COUNT_BITS] <= 1,
            ~axi.awvalid | (axi.awaddr == (self.i_base + last.index * size)[: len(axi.awaddr)]),
            ~axi.awvalid | ((axi.awid == 0) & (axi.awburst == AxiBurst.INCR)),
            ~axi.wvalid | (axi.wdata == last.entries.as_value()),
            ~axi.wvalid | (axi.wstrb == strobes),
            ~axi.wvalid | axi.wlast,
            axi.bready,
            # Nothing waits but for the memory.
            writer.i.ready | (axi.awvalid & ~self.i_awready) | (axi.wvalid & ~self.i_wready),
            keeps_page(axi, "aw", 1),
            stays(m, axi, "aw", "addr", "id", "len", "size", "burst"),
            stays(m, axi, "w", "data", "strb", "last"),
        ]
        events = {
            "address-first": axi.awvalid & ~axi.wvalid,
            "data-first": axi.wvalid & ~axi.awvalid,
            "one-a-cycle": taken & axi.awvalid & axi.wvalid,
            "lost": axi.wvalid & (axi.wstrb != 0) & ~axi.wstrb.all(),
        }
        self.state(m, rules, events)
        return m
