"""Runs the rows of a bank: packets of warps close behind each other, and rows that are written
between."""

from __future__ import annotations

from collections import Counter, deque
from random import Random

from amaranth.hdl import Value

from racetrap.golden_model.causality.packets import Packet, PacketKind
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.events import WARP_SIZE
from racetrap.rtl.causality.warp_row import WarpRows
from tests.support.causality.branch_bench import BRANCHES, change
from tests.support.causality.encounters import Encounters, pack_branch, pack_row, some_lanes
from tests.support.rtl.streams import pulse, simulate

#: Cycles from a packet to its branches, to its row, and until what it changes is in memory.
_BRANCH, _ROW, _WRITTEN = 2, 3, 6


class RowsBench:
    """Rows, and what they answer to each packet.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    seed : int or str
        Of packets, rows and idle cycles.
    rows : callable
        The component.
    """

    def __init__(self, params, seed, rows=WarpRows):
        self.params, self.dut, self.rng = params, rows(params), Random(seed)
        self._encounters = Encounters(params, self.rng)
        count = params.sm_count << params.warp_bits
        self._rows = [self._forgotten() for _ in range(count)]
        # What the collector has written, and what its warp's packets have changed since.
        self._written = [0] * count
        self._clocks, self._latest = [1] * count, [-_WRITTEN] * count
        self._due = deque()  # cycle, warp, branches before the packet, row
        self.answers = 0

    def run(self, cycles):
        """So many cycles; all rows are cleared before."""

        async def testbench(ctx):
            await pulse(ctx, self.dut.i_clear)
            for _ in range(2 * len(self._rows)):
                assert ctx.get(self.dut.o_busy)
                await ctx.tick()
            assert not ctx.get(self.dut.o_busy)
            for warp in range(len(self._rows)):
                while not await self._write(ctx, warp):
                    pass
            for cycle in range(cycles):
                await self._cycle(ctx, cycle)

        simulate(self.dut, testbench)

    def _forgotten(self):
        """Branches of a warp of which none is known."""
        row = WarpRow(self.params, Counter())
        row.lanes_before = 0
        return row

    async def _write(self, ctx, warp):
        """Offer a row in one cycle; whether it is taken."""
        params, rng = self.params, self.rng
        row = self._encounters.row()
        layout = params.row_write_layout
        begins, met = rng.choice(((0, 0), (0, 1), (1, 0)))
        values = {"warp": warp, "begins": begins, "met": met}
        packed = pack_row(params, row)
        word = layout.pack(
            dict.fromkeys(layout.fields, 0) | values | {"row": params.row_layout.unpack(packed)}
        )
        stream = self.dut.i_row
        ctx.set(Value.cast(stream.payload), word)
        ctx.set(stream.valid, 1)
        taken = ctx.get(stream.ready)
        await ctx.tick()
        ctx.set(stream.valid, 0)
        if taken:
            self._written[warp] = packed
            if begins or (met and params.independent_threads):
                self._rows[warp] = self._forgotten()
                self._clocks[warp] = 1
        return taken

    async def _cycle(self, ctx, cycle):
        rng, dut = self.rng, self.dut
        warp = rng.randrange(len(self._rows)) if rng.random() < 0.3 else rng.randrange(2)
        is_given = rng.random() < 0.8
        if is_given:
            self._give(ctx, cycle, warp)
        ctx.set(dut.i_valid, is_given)
        self._check(ctx, cycle)
        quiet = [other for other, last in enumerate(self._latest) if last + _WRITTEN <= cycle]
        if quiet and rng.random() < 0.3:
            await self._write(ctx, rng.choice(quiet))
        else:
            await ctx.tick()

    def _give(self, ctx, cycle, warp):
        params, rng = self.params, self.rng
        kinds = [PacketKind.WARP_BARRIER] if params.independent_threads else BRANCHES
        kind = rng.choice([PacketKind.LOAD, *kinds])
        self._clocks[warp] = min(self._clocks[warp] + rng.getrandbits(1), params.last_clock)
        fields = dict.fromkeys(Packet._fields, 0)
        packet = Packet(**fields)._replace(
            kind=kind, warp=warp, lanes=some_lanes(rng), clock=self._clocks[warp]
        )
        ctx.set(Value.cast(self.dut.i_packet), params.packet_layout.pack(packet._asdict()))
        row = self._rows[warp]
        used = 1 << len(Value.cast(self.dut.o_branch))
        if not params.independent_threads:
            # Levels that have ended may still hold what they had.
            used = 1 << 8 + (WARP_SIZE + params.clock_bits) * min(row.depth, params.levels)
        self._due.append((cycle, warp, pack_branch(params, row) % used, used, self._written[warp]))
        self._latest[warp] = cycle
        if kind != PacketKind.LOAD:
            change(row, kind, packet.lanes, packet.clock)

    def _check(self, ctx, cycle):
        """Answers to packets of two and three cycles ago."""
        dut, layout = self.dut, self.params.row_layout
        for given, warp, branch, used, row in self._due:
            if cycle == given + _BRANCH:
                assert ctx.get(Value.cast(dut.o_branch)) % used == branch, f"cycle {cycle}"
                assert ctx.get(dut.o_start) == layout.unpack(row)["start"], f"cycle {cycle}"
                self.answers += 1
            elif cycle == given + _ROW:
                assert ctx.get(Value.cast(dut.o_row)) == row, f"cycle {cycle}, warp {warp}"
        while self._due and self._due[0][0] + _ROW <= cycle:
            self._due.popleft()
