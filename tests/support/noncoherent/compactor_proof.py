"""Harness for a proof on the compactor: it merges the pair with the smallest gap, and when."""

from __future__ import annotations

from types import ModuleType

from amaranth.hdl import Assert, Assume, Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.common.layout import struct_layout


class CompactorHarness(wiring.Component):
    """A compactor beside any entries that neither meet nor touch, and stay while it works.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.
    modules : dict of str to ModuleType
        Modules of the monitor, perhaps with a bug.
    """

    def __init__(self, params: NoncoherentParams, modules: dict[str, ModuleType]):
        self._params, self._make = params, modules["compactor"].Compactor
        entries = data.ArrayLayout(struct_layout(params.entry_layout), params.entries)
        super().__init__({"i_full": In(1), "i_entries": In(entries)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.compactor = dut = self._make(self._params)
        entries = list(self.i_entries)
        values = [Value.cast(entry) for entry in entries]
        cycles = len(entries) * (len(entries) + 1) + 9
        count = Signal(range(cycles + 1))
        m.d.sync += count.eq(count + 1)
        with m.If(dut.o_ready | dut.o_merge):
            m.d.sync += count.eq(0)
        slot = Signal.like(dut.o_slot)
        m.d.sync += slot.eq(dut.o_slot)
        m.d.comb += [
            dut.i_full.eq(self.i_full),
            Value.cast(dut.i_entry).eq(one_hot_select(slot, values)),
            Assert(dut.o_ready == ((count == 0) & ~self.i_full)),
            Assert(dut.o_merge == (count == cycles - 1)),
        ]
        for cycle in range(1, cycles - 8):
            low, high = divmod(cycle - 1, len(entries) + 1)
            slot = high - 1 if high else low
            m.d.comb += Assert((count != cycle) | (dut.o_slot == 1 << slot))
        self._keep_rules(m, dut, entries, values)
        with m.If(dut.o_merge):
            self._is_smallest(m, dut, entries)
        return m

    def _keep_rules(self, m: Module, dut, entries: list, values: list) -> None:
        works, before = Signal(), Signal(len(Cat(values)))
        m.d.sync += [works.eq(~dut.o_ready & ~dut.o_merge), before.eq(Cat(values))]
        m.d.comb += Assume(~works | (self.i_full & (before == Cat(values))))
        for slot, entry in enumerate(entries):
            m.d.comb += Assume(entry.first < entry.end)
            m.d.comb += Assume(entry.end <= 1 << self._params.address_bits)
            for other in entries[:slot]:
                m.d.comb += Assume((entry.end < other.first) | (other.end < entry.first))

    def _is_smallest(self, m: Module, dut, entries: list) -> None:
        words = [Value.cast(entry) for entry in entries]
        layout = struct_layout(self._params.entry_layout)
        lower, upper = Signal(layout), Signal(layout)
        gap = Signal(self._params.end_bits)
        m.d.comb += [
            Value.cast(lower).eq(one_hot_select(dut.o_low, words)),
            Value.cast(upper).eq(one_hot_select(dut.o_high, words)),
            gap.eq(upper.first - lower.end),
            Assert(lower.end < upper.first),
            Assert(dut.o_others == (lower.others | upper.others | (lower.tag != upper.tag))),
            Assert((dut.o_low != 0) & (dut.o_high != 0)),
        ]
        for bits in (dut.o_low, dut.o_high):
            m.d.comb += Assert((bits & (bits - 1)) == 0)
        for one in entries:
            for other in entries:
                smaller = (one.end < other.first) & ((other.first - one.end) < gap)
                m.d.comb += Assert(~smaller)
