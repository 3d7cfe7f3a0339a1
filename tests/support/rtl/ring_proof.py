"""Harness for a proof on the report writer's port: bursts, each whole and inside the ring."""

from __future__ import annotations

from amaranth.hdl import Assume, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.layout import Layout
from tests.support.formal.axi import keeps_page, stays
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILE = "common/report_writer.py"
_ADDRESS_BITS, _BEATS, _RECORD = 16, 4, 32
_LAYOUT = Layout({"pc": 8, "sequence": 32})


class RingHarness(Harness):
    """A report writer with free reports, a free ring and a memory that answers after the burst.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._writer = modules_with([_FILE], case.bug)[_FILE].ReportWriter(_LAYOUT, _ADDRESS_BITS)
        super().__init__(case, {
            "i_valid": In(1), "i_base": In(_ADDRESS_BITS), "i_capacity_log2": In(5),
            "i_tail": In(32), "i_awready": In(1), "i_wready": In(1), "i_bvalid": In(1),
            "i_bresp": In(2),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        writer, axi = self._writer, self._writer.m_axi
        inner = OpenComponent(writer)
        m.submodules.writer = inner.fragment
        base, capacity, started = (
            Signal.like(self.i_base),
            Signal.like(self.i_capacity_log2),
            Signal(),
        )
        open_addresses, beats = Signal(), Signal(range(_BEATS + 1))
        end = self.i_base + (_RECORD << self.i_capacity_log2)
        answered = self.i_bvalid & axi.bready
        m.d.sync += [base.eq(self.i_base), capacity.eq(self.i_capacity_log2), started.eq(1)]
        m.d.comb += [
            writer.i.valid.eq(self.i_valid),
            writer.i_base.eq(self.i_base),
            writer.i_capacity_log2.eq(self.i_capacity_log2),
            writer.i_tail.eq(self.i_tail),
            axi.awready.eq(self.i_awready),
            axi.wready.eq(self.i_wready),
            axi.bvalid.eq(self.i_bvalid),
            axi.bresp.eq(self.i_bresp),
            # The ring is one that a launch takes, and stays.
            Assume(~started | ((self.i_base == base) & (self.i_capacity_log2 == capacity))),
            Assume((self.i_base & (_RECORD - 1)) == 0),
            Assume(end <= 1 << _ADDRESS_BITS),
            # A response comes after all of its burst.
            Assume(~self.i_bvalid | (open_addresses & (beats == _BEATS))),
        ]
        sent = axi.wvalid & self.i_wready
        m.d.sync += [
            open_addresses.eq(open_addresses & ~answered | axi.awvalid & self.i_awready),
            beats.eq(Mux(answered, 0, beats + sent)),
        ]
        rules = [
            stays(m, axi, "aw", "addr", "id", "len", "size", "burst"),
            stays(m, axi, "w", "data", "strb", "last"),
            keeps_page(axi, "aw", _BEATS),
            ~axi.awvalid | ((axi.awid == 0) & (axi.awburst == AxiBurst.INCR)),
            ~axi.awvalid | ((axi.awaddr >= self.i_base) & (axi.awaddr + _RECORD <= end)),
            # One burst at a time, of four beats.
            ~(axi.awvalid & open_addresses),
            ~(axi.wvalid & (beats == _BEATS)),
            ~axi.wvalid | (axi.wlast == (beats == _BEATS - 1)),
        ]
        events = {
            "data-first": sent & axi.awvalid & axi.wlast,
            "second-record": axi.awvalid & (axi.awaddr != self.i_base),
        }
        state = inner["fsm_state"]
        is_idle, writes, responds = (state == number for number in range(3))
        helps = [
            state < 3,
            axi.wvalid == writes,
            ~is_idle | (~axi.awvalid & ~open_addresses & (beats == 0)),
            ~writes | (inner["beat"] == beats[:2]),
            ~writes | (beats < _BEATS),
            ~responds | (beats == _BEATS),
            is_idle | (axi.awvalid ^ open_addresses),
        ]
        self.state(m, rules, events, helps)
        return m
