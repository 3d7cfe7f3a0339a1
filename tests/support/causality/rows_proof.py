"""Harness for a proof on the rows of warps in a bank: a packet finds what its warp was told last.

One arbitrary warp stands beside the memories, with its row and its branches as they would be
without stages.  What a change makes of branches is free.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import tile_of
from racetrap.rtl.causality.warp_row import branch_layout
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.internals import OpenComponent, VagueMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

ROWS = "causality/warp_row.py"


class RowsHarness(Harness):
    """Rows of warps with free packets and rows, which come as the collector and trackers send them.

    Parameters
    ----------
    params : CausalityParams
        Configuration; a power of two of SMs.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        module = modules_with([ROWS], case.bug)[ROWS]
        self._memories: list[VagueMemory] = []
        harness = self

        def memory(shape: Any, depth: int) -> VagueMemory:
            harness._memories.append(VagueMemory(shape=shape, depth=depth, init=[]))
            return harness._memories[-1]

        class FreeUpdate(module.BranchUpdate):
            """A change that the harness makes."""

            def elaborate(self, platform):
                harness._update = self
                return Module()

        module.BranchUpdate, module.block_memory = FreeUpdate, memory
        self._rows = module.WarpRows(params)
        branch = branch_layout(params)
        row = struct_layout(params.row_layout)
        super().__init__(case, {
            "i_valid": In(1), "i_packet": In(struct_layout(params.packet_layout)),
            "i_has_row": In(1), "i_row": In(struct_layout(params.row_write_layout)),
            "i_clear": In(1), "i_epoch": In(1), "i_whose": In(params.slot_warp_bits),
            "i_changed": In(branch), "i_vague": In(max(row.size, branch.size)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        rows, params = self._rows, self._params
        self._inner = inner = OpenComponent(rows)
        m.submodules.rows = inner.fragment
        self._depth = params.sm_count << params.warp_bits
        m.d.comb += [
            rows.i_valid.eq(self.i_valid), rows.i_packet.eq(self.i_packet),
            rows.i_row.valid.eq(self.i_has_row), rows.i_row.payload.eq(self.i_row),
            rows.i_clear.eq(self.i_clear), rows.i_epoch.eq(self.i_epoch),
            Value.cast(self._update.o).eq(self.i_changed),
            *(memory.vague.eq(self.i_vague) for memory in self._memories),
        ]  # fmt: skip
        self._elaborate_packets(m)
        self._elaborate_warp(m)
        rules = self._rules()
        self.state(m, rules, self._events(m), self._helps())
        return m

    def _elaborate_packets(self, m: Module) -> None:
        """Packets on the way, and what is never sent while they are."""
        packet, rows = self.i_packet, self._rows
        self._packets, self._valid = [packet], [self.i_valid]
        for stage in range(1, 4):
            last, valid = Signal.like(packet, name=f"given_{stage}"), Signal(name=f"valid_{stage}")
            m.d.sync += [last.eq(self._packets[-1]), valid.eq(self._valid[-1])]
            self._packets.append(last)
            self._valid.append(valid)
        self._takes = self.i_has_row & rows.i_row.ready
        is_on_way = Cat(
            valid & (each.warp == self.i_row.warp)
            for valid, each in zip(self._valid, self._packets, strict=True)
        ).any()
        started, first = Signal(), Signal.like(self.i_whose, name="first")
        m.d.sync += [started.eq(1), first.eq(self.i_whose)]
        m.d.comb += [
            Assume(~self.i_valid | ~rows.o_busy),
            Assume(~(self._takes & is_on_way)),
            Assume(
                ~(self.i_clear | self.i_epoch)
                | ~(rows.o_busy | self._takes | Cat(self._valid).any())
            ),
            Assume(~started | (self.i_whose == first)),
            *(Assume(warp < self._depth) for warp in (packet.warp, self.i_row.warp, self.i_whose)),
        ]  # fmt: skip

    def _elaborate_warp(self, m: Module) -> None:
        """The row and the branches of the warp in question."""
        self._row = row = Signal(struct_layout(self._params.row_layout), name="row_of_warp")
        self._branch = branch = Signal(branch_layout(self._params), name="branch_of_warp")
        given, independent = self.i_row, self._params.independent_threads
        with m.If(self._takes & (given.warp == self.i_whose)):
            m.d.sync += row.eq(given.row)
            with m.If(given.begins | (given.met & independent)):
                m.d.sync += Value.cast(branch).eq(0)
        with m.If(self._changes(2) & self._is_it(2)):
            m.d.sync += branch.eq(self.i_changed)
        with m.If(self.i_clear | self.i_epoch):
            m.d.sync += [
                Value.cast(row).eq(0), row.start.eq(1), row.lanes_before.eq(self.i_clear),
                Value.cast(branch).eq(0),
            ]  # fmt: skip
            if not independent:
                with m.If(~self.i_clear):
                    m.d.sync += Value.cast(branch).eq(self._without_clocks(branch))

    def _without_clocks(self, branch: Any) -> Value:
        """Branches as an epoch leaves them."""
        if self._params.independent_threads:
            return Value.cast(branch) & 0
        level = [Cat(each.active, each.clock & 0) for each in branch.levels]
        return Cat(branch.depth, *level)

    def _is_it(self, stage: int) -> Value:
        """Whether a packet on the way is of the warp in question."""
        return self._valid[stage] & (self._packets[stage].warp == self.i_whose)

    def _changes(self, stage: int) -> Value:
        """Whether a packet on the way changes branches."""
        kind = self._packets[stage].kind
        first = PacketKind.WARP_BARRIER if self._params.independent_threads else PacketKind.IF
        return self._valid[stage] & (kind >= first)

    def _rules(self) -> list[Value]:
        rows, update, packet = self._rows, self._update, self._packets[2]
        return [
            ~self._is_it(2) | (Value.cast(rows.o_branch) == Value.cast(self._branch)),
            ~self._is_it(2) | (rows.o_start == self._row.start),
            ~self._is_it(3) | (Value.cast(rows.o_row) == Value.cast(self._row)),
            ~self._is_it(2) | (Value.cast(update.i) == Value.cast(self._branch)),
            ~self._valid[2] | Cat(
                update.i_kind == packet.kind, update.i_lanes == packet.lanes,
                update.i_clock == packet.clock, update.i_tile == tile_of(packet.lanes),
            ).all(),
        ]  # fmt: skip

    def _events(self, m: Module) -> dict[str, Value]:
        ahead = [self._changes(stage) & self._is_it(stage) for stage in (2, 3)]
        forgot, swept = Signal(), Signal()
        m.d.sync += [
            forgot.eq(forgot | (self._takes & self._branch.as_value().any() & self.i_row.begins)),
            swept.eq(swept | (self.i_epoch & ~self.i_clear & Value.cast(self._branch).any())),
        ]
        return {
            "changed-just-ahead": self._is_it(1) & ahead[0] & ahead[1],
            "changed-two-ahead": self._is_it(1) & ~self._is_it(2) & ahead[1],
            "row-behind-a-branch": forgot & self._is_it(3) & (self._row.bar != 0),
            "behind-an-epoch": swept & self._is_it(3) & (self._row.start == 1),
        }

    def _helps(self) -> list[Value]:
        """Registers of the stages are those packets', and memories hold what is not on the way."""
        inner, depth, whose = self._inner, self._depth, self.i_whose
        branches, starts, rest = self._memories
        swept, branch, row = inner["swept"], Value.cast(self._branch), Value.cast(self._row)
        clock = self._params.clock_bits
        start, others = row[:clock], row[clock:]
        changed, older = inner["changed"], inner["older"]
        shape = branch_layout(self._params)

        layout = data.StructLayout({"valid": 1, "warp": len(whose), "branch": shape})

        def field(register: Value, name: str) -> Any:
            return layout(register)[name]

        def word(name: str) -> Value:
            return Array(inner[f"{name}.row_{number}"] for number in range(depth))[whose]

        is_pending, is_older = (
            field(each, "valid") & (field(each, "warp") == whose) for each in (changed, older)
        )
        is_swept, is_read = swept > 2 * whose, swept > 2 * whose + 1
        kept = self._without_clocks(shape(word("branches")))
        read = Value.cast(branches.read_ports[0].data)
        busy = self._rows.o_busy
        of_epoch = inner["of_epoch"] & busy
        return [
            swept <= 2 * depth,
            busy == (swept != 2 * depth),
            *(each.warp < depth for each in self._packets[1:]),
            ~self._rows.o_busy | ~Cat(self._valid[1:]).any(),
            inner["is_following"] == self._valid[1],
            Value.cast(inner["packet_1"]) == Value.cast(self._packets[1]),
            Value.cast(inner["packet_2"]) == Value.cast(self._packets[2]),
            inner["warp_before"] == self._packets[1].warp,
            inner["changes"] == self._changes(2),
            inner["tile"] == tile_of(self._packets[2].lanes),
            field(changed, "valid") == self._changes(3),
            field(changed, "warp") == self._packets[3].warp,
            ~is_swept | (word("starts") == start),
            ~is_swept | (word("rest") == others),
            ~is_pending | (Value.cast(field(changed, "branch")) == branch),
            ~(is_read & ~is_pending) | (word("branches") == branch),
            ~(is_older & ~is_pending & ~self._rows.o_busy)
            | (Value.cast(field(older, "branch")) == branch),
            ~(self._is_it(1) & ~is_pending & ~is_older) | (read == branch),
            ~self._is_it(1) | (starts.read_ports[0].data == start),
            ~self._is_it(2) | (Value.cast(rest.read_ports[0].data) == others),
            ~self._is_it(3) | (inner["start_before"] == start),
            ~busy | ((self._row.start == 1) & (self._row.lanes_before == ~inner["of_epoch"])),
            ~busy | (Cat(self._row.bar, self._row.own, Value.cast(self._row.know)) == 0),
            ~busy | (branch == (Mux(of_epoch, self._without_clocks(self._branch), 0))),
            # An epoch leaves lanes.
            ~(of_epoch & ~is_read) | (kept == branch),
            ~(of_epoch & swept[0] & (swept[1:] == whose))
            | (self._without_clocks(shape(read)) == branch),
        ]  # fmt: skip
