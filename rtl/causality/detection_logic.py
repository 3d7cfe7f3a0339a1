"""Detection logic: whether an access races with what its word's entry names.

Ref: ScoRD (ISCA'20) Section VI; strong accesses and scopes as in the PTX memory model.
"""

from __future__ import annotations

from functools import reduce
from operator import and_

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import Observed, Undecided
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import access_layout, is_same_lane, reads
from racetrap.rtl.causality.warp_order import RELATION
from racetrap.rtl.common.layout import struct_layout

#: What an access and an unordered one that it conflicts with are; none of these: both are strong
#: enough.
_CONFLICT = data.StructLayout({"races": 1, "flag_read": 1, "flag_written": 1})


class DetectionLogic(wiring.Component):
    """Checks one access against the entry of its word.  Combinational.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_access : ``In(access_layout(params))``
        The access.
    i_before : ``In(entry_layout)``
        The word's entry.
    i_writer, i_reader : ``In(RELATION)``
        What its writer and its reader are to the access.
    o_against : ``Out(2)``
        Earlier accesses that it races with (``Against``).
    o_undecided : ``Out(3)``
        Volatile accesses that may be flags (``Undecided``).
    o_met : ``Out(1)``
        It reads a message that its warp may acquire.
    """

    def __init__(self, params: CausalityParams):
        super().__init__({
            "i_access": In(access_layout(params)),
            "i_before": In(struct_layout(params.entry_layout)),
            "i_writer": In(RELATION),
            "i_reader": In(RELATION),
            "o_against": Out(2),
            "o_undecided": Out(3),
            "o_met": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        before, packet = self.i_before, self.i_access.packet
        writer, reader = (
            self._elaborate_conflict(m, name, before[name], relation)
            for name, relation in (("writer", self.i_writer), ("reader", self.i_reader))
        )
        is_checked = Signal()
        m.d.comb += [
            self.o_met.eq(self._meets_message()),
            # An acquire that finds a message comes behind what it does not know yet.
            is_checked.eq(~(self.o_met & packet.acquire)),
            self.o_against.eq(
                Cat(writer.races, reader.races) & is_checked.replicate(len(self.o_against))
            ),
        ]
        with m.If(is_checked):
            with m.If(writer.flag_read):
                # What reads a flag writes none: a write in between does not occur.
                m.d.comb += self.o_undecided.eq(Undecided.READ)
            with m.Elif(writer.flag_written):
                m.d.comb += self.o_undecided.eq(
                    Mux(
                        reader.flag_written,
                        Undecided.WRITE_AFTER_BOTH,
                        Undecided.WRITE_AFTER_WRITER,
                    )
                )
            with m.Elif(reader.flag_written):
                m.d.comb += self.o_undecided.eq(Undecided.WRITE_AFTER_READER)
        return m

    def _meets_message(self) -> Value:
        before, access, relation = self.i_before, self.i_access, self.i_writer
        packet, writer = access.packet, before.writer
        finds_it = (
            (writer.size == packet.size)
            & self._fits(writer, relation)
            & ~(relation.is_own & is_same_lane(access, writer))
        )
        return (
            reads(packet)
            & packet.strong
            & before.message.any()
            & (before.mixed | finds_it)
            & _released(writer, relation)
        )

    def _fits(self, side: data.View, relation: data.View) -> Value:
        """Whether the scopes of two strong accesses include each other."""
        return relation.in_block | (side.device & self.i_access.packet.device)

    def _elaborate_conflict(
        self, m: Module, name: str, side: data.View, relation: data.View
    ) -> data.View:
        is_writer = name == "writer"
        packet, conflict = self.i_access.packet, Signal(_CONFLICT, name=f"{name}_conflict")
        counts, may_be_strong, has_released, is_flag_read = (
            Signal(name=f"{name}_{what}")
            for what in ("counts", "may_be_strong", "has_released", "is_flag_read")
        )
        # Lanes of one atomic acquire each other's releases, and what one of them comes behind.
        lanes_meet = packet.acquire & packet.released & ~self.i_access.is_single
        # A read conflicts with writes alone; a write over a flag that is no atomic is a race.
        behind, overwrites = (
            (self._behind_neither(), packet.writes & side.atomic)
            if is_writer
            else (self._unordered(relation) & packet.writes.replicate(2), packet.writes)
        )
        some, every = behind[0], behind[1]
        m.d.comb += [
            counts.eq(
                (side.bytes & packet.bytes).any()
                & some
                & ~(lanes_meet & (relation.is_own | ~every))
            ),
            may_be_strong.eq(
                side.strong
                & packet.strong
                & (side.size == packet.size)
                & self._fits(side, relation)
            ),
            has_released.eq(
                overwrites & Mux(relation.in_block, packet.released, packet.released_device)
            ),
        ]
        if is_writer:
            m.d.comb += is_flag_read.eq(reads(packet) & (side.handed | _released(side, relation)))
        with m.If(counts):
            with m.If(~may_be_strong):
                m.d.comb += conflict.races.eq(1)
            with m.Elif(~(side.named & packet.named)):
                with m.If(is_flag_read):
                    m.d.comb += conflict.flag_read.eq(~packet.writes)
                with m.Elif(has_released):
                    is_flag = 0 if is_writer else self._is_flag_of()
                    m.d.comb += conflict.flag_written.eq(~(relation.is_own | is_flag))
                with m.Else():
                    m.d.comb += conflict.races.eq(1)
        return conflict

    def _is_flag_of(self) -> Value:
        """Whether others have read a message by the access's instruction, which writes again."""
        before = self.i_before
        is_read = before.observed != Observed.NOBODY
        return before.message.any() & is_read & (before.writer.place == self.i_access.place)

    def _behind_neither(self) -> Value:
        """As ``_unordered`` of the last write and of a read that observed it."""
        observed, (writer, reader) = self.i_before.observed, (self.i_writer, self.i_reader)
        has_observer = (observed == Observed.READER) & self.i_before.reader.bytes.any()
        unordered = Mux(has_observer, self._unordered(writer, reader), self._unordered(writer))
        return unordered & (observed != Observed.SEVERAL).replicate(2)

    def _unordered(self, *relations: data.View) -> Value:
        """Whether some lane comes behind none of some accesses, and whether no lane comes behind
        any."""
        lanes = reduce(and_, (relation.lanes for relation in relations))
        ordered = Cat(relation.all_ordered for relation in relations).any()
        found = Cat(lanes.any(), lanes == self.i_access.packet.lanes)
        return found & ~ordered.replicate(2)


def _released(side: data.View, relation: data.View) -> Value:
    """Whether a write is behind a release of a scope that includes the access's warp."""
    return Mux(relation.in_block, side.released, side.released_device)
