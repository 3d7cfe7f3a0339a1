"""Branches and warp barriers of a row against the golden model."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.events import WARP_SIZE
from racetrap.golden_model.layout import Layout
from tests.support.causality.encounters import pack_branch, some_lanes
from tests.support.rtl.combinational import simulate_combinational

#: Kinds of packets that change a row's branches in lockstep.
BRANCHES = [PacketKind.IF, PacketKind.IF, PacketKind.ELSE, PacketKind.FI, PacketKind.WARP_BARRIER]


class Update(wiring.Component):
    """Update of branches that finds tiles by itself."""

    def __init__(self, params, rtl):
        self._rtl, self.update = rtl, rtl.BranchUpdate(params)
        branch = rtl.branch_layout(params)
        super().__init__({
            "i": In(branch), "i_kind": In(3), "i_lanes": In(WARP_SIZE),
            "i_clock": In(params.clock_bits), "o": Out(branch),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.update = update = self.update
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


def compare(params: CausalityParams, seed: str, rows: int, rtl: SimpleNamespace) -> None:
    """Change rows eight times each; raises ``AssertionError`` if hardware and model differ."""
    dut, rng = Update(params, rtl), random.Random(seed)
    width = len(dut.i.as_value())
    layout = Layout({"i": width, "kind": 3, "lanes": WARP_SIZE, "clock": params.clock_bits})
    inputs = Cat(dut.i, dut.i_kind, dut.i_lanes, dut.i_clock)
    kinds = [PacketKind.WARP_BARRIER] if params.independent_threads else BRANCHES

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

    simulate_combinational(dut, testbench)
