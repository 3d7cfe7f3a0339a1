"""Word splitter: from a warp instruction to a transaction for each word that it accesses.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from racetrap.golden_model.causality.packets import TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import WARP_SIZE, AtomicOp, MemoryOrder
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.rtl.gpu.lane_groups import LaneGroups
from racetrap.rtl.gpu.transaction_splitter import TransactionSplitter, is_access

#: Transactions of the kinds that are one, and their fields beside the slot.
_SINGLE = {
    IssueKind.FENCE: (TransactionKind.FENCE, ("warp", "pc", "order", "device")),
    IssueKind.BARRIER: (TransactionKind.BARRIER, ("pc",)),
    IssueKind.PARTIAL_BARRIER: (TransactionKind.PARTIAL_BARRIER, ("pc", "number", "warps")),
    IssueKind.ARRIVE: (TransactionKind.ARRIVE, ("warp", "pc", "number")),
    IssueKind.BLOCK_START: (TransactionKind.BLOCK_START, ("warps",)),
    IssueKind.BLOCK_END: (TransactionKind.BLOCK_END, ()),
    IssueKind.IF: (TransactionKind.IF, ("warp", "pc", "lanes")),
    IssueKind.ELSE: (TransactionKind.ELSE, ("warp", "pc", "lanes")),
    IssueKind.FI: (TransactionKind.FI, ("warp", "pc", "lanes")),
    IssueKind.WARP_BARRIER: (TransactionKind.WARP_BARRIER, ("warp", "pc", "lanes")),
}
_AROUND = ("warp", "pc", "order", "device")
_ACCESS = ("warp", "pc", "device", "shared", "strong", "size")


class WordSplitter(TransactionSplitter):
    """Transactions of each instruction, in the order of the lanes that come first in them.

    Lanes that access the same bytes of a word are one transaction.  Lanes of a CAS that store are
    one, those before the first of them another, and those that fail after it a third.  BEGIN stands
    before the accesses of a release operation, END behind those of one that releases or acquires.
    Accesses to shared memory that is not watched, and EXIT, give none and take a cycle.

    All that is no access is valid in the cycle after it was taken; so is a BEGIN.  The first access
    comes three cycles after it was taken (of a CAS four), then one each cycle, with a pause behind
    each group of several lanes, and behind each group of a CAS.  ``ready`` depends on no ``valid``.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Its ports are those of ``TransactionSplitter``.
    """

    _params: CausalityParams

    def elaborate(self, platform):
        m = Module()
        given = self.i.payload
        operation = Signal(given.shape(), reset_less=True)
        # What is still to leave: the only transaction or a BEGIN, words of a group, an END.
        is_single, begins, ends = (Signal(name=n) for n in ("is_single", "begins", "ends"))
        group, word_leaves, has_group = self._elaborate_groups(m, operation)
        is_alone = is_single | begins
        m.d.comb += [
            self.o.valid.eq(is_alone | has_group | (ends & ~self._groups.o_busy)),
            word_leaves.eq(self.o.ready & ~is_alone),
            self.o_warp.eq(operation.warp),
            self.o_idle.eq(~is_single & ~ends & ~has_group & ~self._groups.o_busy),
            self.i.ready.eq(
                ~self._groups.o_busy & ~begins & ~has_group
                & (~(is_single | ends) | self.o.ready)
            ),
        ]  # fmt: skip
        with m.If(self.o.ready & is_alone):
            m.d.sync += [is_single.eq(0), begins.eq(0)]
        with m.If(self.i.ready):
            acquires, releases = _around(given)
            is_single_kind = Cat(given.kind == kind for kind in _SINGLE).any()
            accesses = self._accesses(given)
            m.d.sync += [
                is_single.eq(self.i.valid & is_single_kind),
                begins.eq(self.i.valid & accesses & releases),
                ends.eq(self.i.valid & accesses & (acquires | releases)),
            ]
            with m.If(self.i.valid):
                m.d.sync += operation.eq(given)
        self._elaborate_transaction(m, operation, group, begins, has_group)
        return m

    def _accesses(self, item: data.View) -> Value:
        """Whether an instruction accesses memory that is watched."""
        return is_access(item) if self._params.shared_bytes else is_access(item) & ~item.shared

    def _elaborate_groups(
        self, m: Module, operation: data.View
    ) -> tuple[data.View, Signal, Signal]:
        """Group that leaves, word by word."""
        params, lanes = self._params, self._params.lanes
        bits = params.address_bits
        self._groups = groups = LaneGroups(lanes, bits, low_bits=2)
        m.submodules.groups = groups
        group = Signal(
            data.StructLayout({"address": bits, "lanes": lanes, "near": lanes}), name="group"
        )
        has_group, leaves, is_known = (Signal(name=n) for n in ("has_group", "leaves", "is_known"))
        same, chosen = Signal(lanes, name="same"), Signal(lanes, name="chosen")
        may_move = Signal(name="may_move")
        is_cas = (operation.kind == IssueKind.ATOMIC) & (operation.op == AtomicOp.CAS)
        is_last_word = ~(operation.size >= 3) | group.address[2] & (
            ~(operation.size >= 4) | group.address[3]
        )
        m.d.comb += [
            groups.i_start.eq(self.i.valid & self.i.ready & self._accesses(self.i.payload)),
            groups.i_lanes.eq(self.i.payload.lanes),
            groups.i_keys.eq(operation.addresses),
            chosen.eq(
                Mux(is_cas, _like_the_lead(groups.o_lead, same, operation.success), groups.o_same)
            ),
            may_move.eq(~has_group | (leaves & is_last_word)),
            groups.i_group.eq(chosen),
            groups.i_next.eq(groups.o_valid & may_move & (is_known | ~is_cas)),
        ]
        # Who is like the lead of a CAS is found a cycle after who has its address.
        m.d.sync += [same.eq(groups.o_same), is_known.eq(groups.o_valid & ~groups.i_next)]
        with m.If(groups.i_next):
            m.d.sync += [
                has_group.eq(1), group.address.eq(groups.o_key), group.lanes.eq(chosen),
                group.near.eq(groups.o_near),
            ]  # fmt: skip
        with m.Elif(may_move):
            m.d.sync += has_group.eq(0)
        with m.Elif(leaves):
            # Values are compared at the lanes' own addresses.
            m.d.sync += [group.address.eq(group.address + WORD_BYTES), group.near.eq(0)]
        return group, leaves, has_group

    def _elaborate_transaction(
        self, m: Module, operation: data.View, group: data.View, begins: Value, has_group: Value
    ) -> None:
        """What leaves."""
        payload, kinds = self.o.payload, TransactionKind
        acquires, releases = _around(operation)
        is_atomic = operation.kind == IssueKind.ATOMIC
        is_store = operation.kind == IssueKind.STORE
        is_named = is_atomic | (operation.strong & (operation.order != MemoryOrder.IMPLIED))
        ordering = Signal(2)
        values: dict[str, Any] = {
            "warp": operation.warp, "pc": operation.pc, "order": ordering,
            "device": operation.scope, "number": operation.number, "warps": operation.warps,
            "lanes": operation.lanes, "shared": operation.shared,
            "strong": operation.strong | is_atomic, "size": operation.size,
        }  # fmt: skip

        def give(kind: Any, names: tuple[str, ...]) -> list[Any]:
            return [payload.kind.eq(kind), *(payload[name].eq(values[name]) for name in names)]

        m.d.comb += [payload.slot.eq(operation.slot), ordering.eq(acquires | releases << 1)]
        with m.Switch(operation.kind):
            for kind, (of, names) in _SINGLE.items():
                with m.Case(kind):
                    m.d.comb += give(of, names)
            with m.Default():
                with m.If(begins | ~has_group):
                    m.d.comb += give(Mux(begins, kinds.BEGIN.value, kinds.END.value), _AROUND)
                with m.Else():
                    m.d.comb += [
                        *give(operation.kind, _ACCESS),
                        payload.writes.eq(
                            is_store
                            | (is_atomic & ((operation.op != AtomicOp.CAS)
                                            | (group.lanes & operation.success).any()))
                        ),
                        payload.named.eq(is_named),
                        payload.acquire.eq(acquires), payload.release.eq(releases),
                        payload.unequal.eq(
                            is_store & ~is_named & (group.near & operation.marks).any()
                        ),
                        payload.bytes.eq(_bytes(operation.size, group.address[:2])),
                        payload.word.eq(group.address[2:]), payload.lanes.eq(group.lanes),
                    ]  # fmt: skip
        with m.If(operation.kind == IssueKind.WARP_BARRIER):
            # None stands for all.
            nobody = ~operation.lanes.any()
            m.d.comb += payload.lanes.eq(operation.lanes | nobody.replicate(WARP_SIZE))
        with m.If(operation.kind == IssueKind.FENCE):
            m.d.comb += ordering.eq(
                Mux(operation.order == MemoryOrder.IMPLIED, 0, operation.order - 1)
            )


def _around(item: data.View) -> tuple[Value, Value]:
    """Whether an access acquires, and releases."""
    orders, both = MemoryOrder, item.order == MemoryOrder.ACQ_REL
    return (
        ((item.order == orders.ACQUIRE) | both) & (item.kind != IssueKind.STORE),
        ((item.order == orders.RELEASE) | both) & (item.kind != IssueKind.LOAD),
    )


def _like_the_lead(lead: Value, same: Value, success: Value) -> Value:
    """Of the lanes of a CAS with one address: those that store, or fail before or behind these,
    as the lead does."""
    stores, fails = same & success, same & ~success
    before = ~stores & (stores - 1)
    return Mux(
        (lead & success).any(), stores, Mux((lead & before).any(), fails & before, fails & ~before)
    )


def _bytes(size: Value, offset: Value) -> Value:
    """Bytes of a word that an access touches."""
    one = Cat(offset == place for place in range(4))
    two = Cat(offset[1].replicate(2) ^ 0b11, offset[1].replicate(2))
    return Mux(size == 0, one, Mux(size == 1, two, 0b1111))
