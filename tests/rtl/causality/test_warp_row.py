"""Branches and warp barriers of a row against the golden model; the memories of rows are tested
with the bank."""

import random
from collections import Counter

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.events import WARP_SIZE
from racetrap.golden_model.layout import Layout
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.encounter_bench import rtl_of
from tests.support.causality.encounters import pack_branch, some_lanes

_BRANCHES = [PacketKind.IF, PacketKind.IF, PacketKind.ELSE, PacketKind.FI, PacketKind.WARP_BARRIER]
_LOCKSTEP = {"independent_threads": False}


class Update(wiring.Component):
    """Update of branches that finds tiles by itself."""

    def __init__(self, params, rtl):
        self._params, self._rtl = params, rtl
        branch = rtl.branch_layout(params)
        super().__init__({
            "i": In(branch), "i_kind": In(3), "i_lanes": In(WARP_SIZE),
            "i_clock": In(params.clock_bits), "o": Out(branch),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.update = update = self._rtl.BranchUpdate(self._params)
        m.d.comb += [
            update.i.eq(self.i),
            update.i_kind.eq(self.i_kind),
            update.i_lanes.eq(self.i_lanes),
            update.i_clock.eq(self.i_clock),
            update.i_tile.eq(self._rtl.tile_of(self.i_lanes)),
            self.o.eq(update.o),
        ]
        return m


def change(row: WarpRow, kind: PacketKind, lanes: int, clock: int) -> None:
    """What a packet does to a golden row."""
    if kind == PacketKind.IF:
        row.begin_branch(lanes, clock)
    elif kind == PacketKind.ELSE:
        row.swap_branch()
    elif kind == PacketKind.FI:
        row.end_branch()
    else:
        row.warp_barrier(lanes, clock)


def compare(params: CausalityParams, seed: str, rows: int, bug: Patch | None = None) -> None:
    """Change rows eight times each; raises ``AssertionError`` if hardware and model differ."""
    dut, rng = Update(params, rtl_of(bug)), random.Random(seed)
    width = len(dut.i.as_value())
    layout = Layout({"i": width, "kind": 3, "lanes": WARP_SIZE, "clock": params.clock_bits})
    inputs = Cat(dut.i, dut.i_kind, dut.i_lanes, dut.i_clock)
    kinds = [PacketKind.WARP_BARRIER] if params.independent_threads else _BRANCHES

    async def testbench(ctx):
        for _ in range(rows):
            row = WarpRow(params, Counter())
            row.lanes_before = 0
            for clock in range(1, 9):
                kind, lanes = rng.choice(kinds), some_lanes(rng)
                values = {"i": pack_branch(params, row), "kind": kind, "lanes": lanes}
                ctx.set(inputs, layout.pack(values | {"clock": clock}))
                change(row, kind, lanes, clock)
                got, expected = ctx.get(dut.o.as_value()), pack_branch(params, row)
                if not params.independent_threads:
                    # Levels that have ended may still hold what they had.
                    used = 8 + (WARP_SIZE + params.clock_bits) * min(row.depth, params.levels)
                    got &= (1 << used) - 1
                assert got == expected, f"row of {seed}"

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize(
    "settings",
    later_but(
        lambda settings: len(settings) != 1 or "records" not in settings,
        [
            {}, {"records": 0}, {"records": 1}, {"records": 3},
            _LOCKSTEP, _LOCKSTEP | {"levels": 0}, _LOCKSTEP | {"levels": 3},
        ],
    ),
    ids=str,
)  # fmt: skip
def test_random_changes(settings):
    compare(CausalityParams(sm_count=2, **settings), str(settings), 60)


BUGS = {
    "record-joins-another-tile": (
        {},
        Patch("causality/warp_row.py", "joined[place].eq(is_same)", "joined[place].eq(is_larger)"),
    ),
    "record-keeps-its-tile": (
        {}, Patch("causality/warp_row.py", "Mux(met[place], 0, old.tile)", "old.tile"),
    ),
    "no-room-is-made": (
        {}, Patch("causality/warp_row.py", "is_apart & ~free.any()", "0"),
    ),
    "whole-warp-is-a-record": (
        {}, Patch("causality/warp_row.py", "self.i_tile == WHOLE_WARP", "0"),
    ),
    "group-that-is-not-aligned": (
        {}, Patch("causality/access.py", "Mux(low_free, high, 0)", "high"),
    ),
    "other-side-of-a-branch-runs-all-lanes": (
        _LOCKSTEP, Patch("causality/warp_row.py", "active & ~now", "active"),
    ),
    "branch-ends-twice": (
        _LOCKSTEP, Patch("causality/warp_row.py", "depth - depth.any()", "depth - 1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", later_but({"record-keeps-its-tile"}.__contains__, BUGS))
def test_bug_is_found(bug):
    settings, patch = BUGS[bug]
    with pytest.raises(AssertionError, match="row of"):
        compare(CausalityParams(sm_count=2, **settings), bug, 3000, patch)
