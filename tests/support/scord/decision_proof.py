"""Harness for a proof on the detection logic: the golden tables, each question written as logic.

Rules, their order, rows and conditions are those of the golden tables; what they ask of an
encounter and the entries that they leave behind are written here a second time, from the paper and
by the names of the golden model's methods.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from amaranth.hdl import Assume, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.detection_logic import LOAD_TABLE, STORE_TABLE, TableRule
from racetrap.golden_model.scord.packets import ROWS_KEEPING_OWNER, PacketKind
from racetrap.golden_model.scord.params import FILTER_BIN_BITS, ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.fence_file import fence_counters
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_RELATION, _LOGIC = "scord/access_relation.py", "scord/detection_logic.py"


class DecisionHarness(Harness):
    """Detection logic with any packet, any entry and any fence counters.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        modules = modules_with([_RELATION, _LOGIC], case.bug)
        self._identify = modules[_RELATION].identify
        self._relation = modules[_RELATION].AccessComparator(params)
        self._logic = modules[_LOGIC].DetectionLogic(params)
        counters = fence_counters(params)
        super().__init__(case, {
            "i_packet": In(struct_layout(params.packet_layout)),
            "i_entry": In(struct_layout(params.entry_layout)),
            "i_uninitialised": In(1), "i_tag": In(params.tag_bits),
            "i_owner": In(counters), "i_own": In(counters),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.logic = logic = self._logic
        m.submodules.relation = relation = self._relation
        m.d.comb += [
            Assume(self.i_packet.kind != PacketKind.FENCE),
            self._identify(relation.i, self.i_packet, self.i_tag),
            self._identify(relation.i_last, self.i_entry, self.i_entry.tag),
            logic.i_packet.eq(self.i_packet),
            logic.i_entry.eq(self.i_entry),
            logic.i_uninitialised.eq(self.i_uninitialised),
            logic.i_tag.eq(self.i_tag),
            logic.i_relation.eq(relation.o),
            logic.i_fenced.blk.eq(self.i_entry.blk_fence_id != self.i_owner.blk),
            logic.i_fenced.dev.eq(self.i_entry.dev_fence_id != self.i_owner.dev),
            logic.i_own.eq(self.i_own),
        ]
        self._elaborate_rules(m, logic)
        return m

    def _elaborate_rules(self, m: Module, logic: Any) -> None:
        encounter = _Encounter(self)
        decision = Mux(
            self.i_packet.kind == PacketKind.LOAD,
            encounter.decide(LOAD_TABLE),
            encounter.decide(STORE_TABLE),
        )
        answer = Signal(len(encounter.shape(*[0] * 4, {})))
        m.d.comb += answer.eq(decision)
        given = encounter.shape(
            logic.o_row, logic.o_preliminary, logic.o_race, logic.o_owner_replaced,
            {name: logic.o_after[name] for name in self._params.entry_layout.fields},
        )  # fmt: skip
        rows = {rule.row for table in (LOAD_TABLE, STORE_TABLE) for rule in table}
        events = {row.name: logic.o_row == row for row in rows}
        self.state(m, [answer == given], events)


class _Encounter:
    """What the golden model's ``Encounter`` asks, as logic."""

    def __init__(self, harness: DecisionHarness):
        self._params = harness._params
        self.access, self.md = harness.i_packet, harness.i_entry
        self.is_uninitialised, self.tag = harness.i_uninitialised, harness.i_tag
        self.owner, self.own = harness.i_owner, harness.i_own

    def shape(self, row, preliminary, race, replaced, after) -> Value:
        """A decision as one number."""
        fields = self._params.entry_layout.fields
        answer = ((row, 5), (preliminary, 2), (race, 3), (replaced, 1))
        entry = ((after.get(name, 0), width) for name, width in fields.items())
        return Cat((Const(0, width) | value)[:width] for value, width in (*answer, *entry))

    def decide(self, table: tuple[TableRule, ...]) -> Value:
        """The first rule of a table that holds."""
        answers = []
        for rule in table:
            replaced = int(rule.row not in ROWS_KEEPING_OWNER)
            answer = self.shape(
                rule.row, rule.condition.preliminary, rule.condition.race, replaced,
                getattr(self, rule.after.__name__)(),
            )  # fmt: skip
            answers.append((getattr(self, rule.holds.__name__)(), answer))
        last = answers.pop()[1]
        return reduce(lambda rest, pair: Mux(pair[0], pair[1], rest), reversed(answers), last)

    # Table III and IV -------------------------------------------------------------------

    def same_block(self):
        md, access = self.md, self.access
        return Cat(md.block, md.generation) == Cat(access.block, access.generation)

    def own_warp(self):
        return self.same_block() & (self.md.warp == self.access.warp)

    def first_access(self):
        return self.is_uninitialised

    def barrier_between(self):
        return Mux(
            self.same_block(),
            Mux(self.md.barrier_id == self.access.barrier_id, 0, ~self.md.dev_shared),
            0,
        )

    def program_order(self):
        return Mux(self.md.blk_shared | self.md.dev_shared, 0, self.own_warp())

    def _fenced_in_block(self):
        return self.md.blk_fence_id != self.owner.blk

    def _fenced_in_device(self):
        return self.md.dev_fence_id != self.owner.dev

    def _foreign_write(self):
        return Mux(self.own_warp(), 0, self.md.modified)

    def write_without_block_fence(self):
        unfenced = ~(self._fenced_in_block() | self._fenced_in_device())
        return Mux(self.same_block(), self._foreign_write() & unfenced, 0)

    def write_without_device_fence(self):
        return Mux(self.same_block(), 0, self._foreign_write() & ~self._fenced_in_device())

    def write_not_both_strong(self):
        return self._foreign_write() & self.not_both_strong()

    def access_without_block_fence(self):
        in_block = Mux(self.md.dev_shared, 0, self._fenced_in_block())
        return Mux(self.same_block(), ~(self._fenced_in_device() | in_block), 0)

    def access_without_device_fence(self):
        return Mux(self.same_block(), 0, ~self._fenced_in_device())

    def not_both_strong(self):
        return Mux(self.md.strong, ~self.access.strong, 1)

    def block_scope_atomic(self):
        return Mux(self.same_block(), 0, self.md.is_atom & (self.md.scope == Scope.BLOCK))

    def both_atomic(self):
        return Mux(self.access.kind == PacketKind.ATOMIC, self.md.is_atom, 0)

    @staticmethod
    def _is_empty(filter_bits):
        low, high = filter_bits[:FILTER_BIN_BITS], filter_bits[FILTER_BIN_BITS:]
        return (low == 0) | (high == 0)

    def no_locks(self):
        return self._is_empty(self.md.filter) & self._is_empty(self.access.filter)

    def no_common_lock(self):
        return self._is_empty(self.md.filter & self.access.filter)

    def write_without_locks(self):
        return Mux(self.md.modified, self.no_locks(), 0)

    def write_without_common_lock(self):
        return Mux(self.md.modified, self.no_common_lock(), 0)

    def otherwise(self):
        return Const(1)

    # The entry left behind --------------------------------------------------------------

    def take(self, **changes):
        access = self.access
        return {
            "filter": access.filter, "strong": access.strong, "scope": access.scope,
            "is_atom": access.kind == PacketKind.ATOMIC, "modified": access.kind != PacketKind.LOAD,
            "barrier_id": access.barrier_id, "blk_fence_id": self.own.blk,
            "dev_fence_id": self.own.dev, "warp": access.warp, "block": access.block,
            "tag": self.tag, "generation": access.generation,
        } | changes  # fmt: skip

    def take_unfenced_write(self):
        fenced = self._fenced_in_block() | self._fenced_in_device()
        return self.take(modified=Mux(fenced, 0, self.md.modified))

    def take_write(self):
        return self.take(modified=self.own_warp(), strong=Mux(self.not_both_strong(), 0, 1))

    def take_keeping_readers(self):
        md = self.md
        return self.take(dev_shared=md.dev_shared, blk_shared=md.blk_shared, filter=md.filter)

    def take_common_locks(self):
        return self.take(filter=self.md.filter & self.access.filter)

    def _kept(self, **changes):
        return {name: self.md[name] for name in self._params.entry_layout.fields} | changes

    def add_reader(self):
        in_block = self.same_block() & ~self.md.dev_shared
        return self._kept(blk_shared=in_block, dev_shared=~in_block)

    def add_reader_with_locks(self):
        md, access = self.md, self.access
        common = Mux(self._is_empty(access.filter), md.filter, md.filter & access.filter)
        outside, beside = ~self.same_block(), ~self.own_warp() & ~md.dev_shared
        return self._kept(
            filter=Mux(self._is_empty(md.filter), access.filter, common),
            dev_shared=outside | md.dev_shared,
            blk_shared=Mux(outside, 0, md.blk_shared | beside),
        )
