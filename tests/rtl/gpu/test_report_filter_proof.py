"""Proof: the report filter suppresses repeats and nothing else, and passes each other report."""

from __future__ import annotations

from functools import reduce
from operator import xor
from unittest import mock

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "gpu/report_filter.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, report_filter_entries=4, address_bits=16, pc_bits=8
)
_ENTRIES, _INDEX_BITS = 4, 2
_CLEAR, _EMPTY, _COMPARE, _PASS = range(4)


class FilterHarness(Harness):
    """A filter with free reports of any kind of race, and a listener; one pair, any, is watched.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._filter = self._module.ReportFilter(_PARAMS)
        report = struct_layout(_PARAMS.report_layout)
        super().__init__(case, {
            "i_valid": In(1), "i_report": In(report), "i_ready": In(1), "i_enable": In(1),
            "i_clear": In(1), "i_pair": In(11),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        part, report = self._filter, self.i_report
        with mock.patch.object(self._module, "Memory", OpenMemory):
            inner = OpenComponent(part)
        m.submodules.filter = inner.fragment
        watched, started = Signal(11), Signal()
        m.d.sync += [watched.eq(self.i_pair), started.eq(1)]
        m.d.comb += [
            part.i.valid.eq(self.i_valid), part.i.payload.eq(report),
            part.o.ready.eq(self.i_ready), part.i_enable.eq(self.i_enable),
            part.i_clear.eq(self.i_clear),
            Assume(~started | (self.i_pair == watched)), Assume(self.i_pair[8:] != 0),
            Assume((report.race != 0) & (report.race <= 5)), Assume(~self.i_clear | part.o_idle),
        ]  # fmt: skip
        given = Signal(8 + 3)
        put, got = part.i.valid & part.i.ready, part.o.valid & part.o.ready
        m.d.comb += given.eq(Cat(report.pc[:8], report.race[:3]))
        # The report in the filter; whether it is decided; the pairs known since the clearing.
        pair, held, decided = Signal(11), Signal(), Signal()
        payload = Signal(len(Value.cast(report)))
        known = Signal()  # the watched pair, by a report that nothing has displaced since
        decides = held & ~decided
        displaces = (_row(pair) == _row(self.i_pair)) & (pair != self.i_pair)
        with m.If(put):
            m.d.sync += [held.eq(1), decided.eq(0), pair.eq(given)]
            m.d.sync += payload.eq(report)
        with m.Elif(part.o_suppressed | got):
            m.d.sync += held.eq(0)
        with m.Elif(held):
            m.d.sync += decided.eq(1)
        clears = self.i_clear & ~put
        with m.If(clears):
            m.d.sync += known.eq(0)
        with m.Elif(decides & self.i_enable):
            m.d.sync += known.eq(Mux(displaces, 0, known | (pair == self.i_pair)))
        is_watched = pair == self.i_pair
        rules = [
            # Suppressed if and only if it is known, and the filter enabled.
            ~(decides & is_watched) | (part.o_suppressed == (known & self.i_enable)),
            ~part.o_suppressed | decides, part.o.valid == (held & decided),
            ~part.o.valid | (Value.cast(part.o.payload) == payload),
            ~part.i.ready | ~held, ~part.o_idle | ~held, ~(part.o_busy & held),
            part.o_idle | part.o_busy | held,
        ]  # fmt: skip
        state, index = inner["fsm_state"], inner["index"]
        rows = [inner[f"table.row_{k}"] for k in range(_ENTRIES)]
        row = Array(rows)[_row(self.i_pair)]
        clearing = state == _CLEAR
        swept = ~clearing | (_row(self.i_pair) < index)
        helps = [
            (state == _COMPARE) == decides, (state == _PASS) == (held & decided),
            ~clearing | ~known, ~swept | ((row == self.i_pair) == known),
            ~held | (inner["held"] == pair), ~decides | (index == _row(pair)),
            ~held | (Value.cast(part.o.payload) == payload), state <= _PASS,
            ~(decides & (_row(pair) == _row(self.i_pair)))
            | (inner["table.$signature__data"] == row),
            ~held | (pair[8:] != 0),
        ]  # fmt: skip
        events = {
            "suppressed": part.o_suppressed & is_watched,
            "known-but-disabled": part.o.valid & is_watched & known & ~self.i_enable & decided,
            "displaced": decides & displaces & known & self.i_enable,
            "forgotten": clears & known,
        }
        self.state(m, rules, events, helps)
        return m


def _row(pair: Value) -> Value:
    """The table's row of a pair: the exclusive or of its parts."""
    program_counter, race = pair[:8], pair[8:]
    parts = [program_counter[low : low + _INDEX_BITS] for low in range(0, 8, _INDEX_BITS)]
    return reduce(xor, parts, race)[:_INDEX_BITS]


PROOF = Proof(
    rule="A report is suppressed if and only if the filter is enabled, and an enabled report of "
    "its program counter and kind has come since the last clearing, and none of another "
    "pair of the same row since. Each other report passes once and unchanged.",
    sizes="4 entries, program counters of 8 bits",
    harness=FilterHarness,
    depth=2,
    events=("suppressed", "known-but-disabled", "displaced", "forgotten"),
    bugs={
        "kind-not-compared": Patch(
            _FILE, "Value.cast(read.data) == Value.cast(held)", "read.data.pc == held.pc"
        ),
        "learns-while-disabled": Patch(_FILE, "write.en.eq(self.i_enable)", "write.en.eq(1)"),
        "clearing-keeps-the-last": Patch(_FILE, "with m.If(index == entries - 1):",
            "with m.If(index == entries - 2):"),
        "suppressed-while-disabled": Patch(_FILE,
            "is_repeat.eq(self.i_enable & (Value.cast(read.data) == Value.cast(held)))",
            "is_repeat.eq(Value.cast(read.data) == Value.cast(held))"),
        "passes-and-is-counted": Patch(_FILE, "self.o_suppressed.eq(is_repeat)",
            "self.o_suppressed.eq(is_repeat | (held.race == 5))"),
    },
    cycles=16,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
