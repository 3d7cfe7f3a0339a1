"""Coalescer: from a warp instruction to transactions of one 128-byte line each.

Ref: ScoRD (ISCA'20) Section IV; Table V for the line size.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from racetrap.golden_model.events import AtomicOp, MemoryOrder
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.gpu.params import LINE_BYTES, WORD_BYTES, WORDS_PER_LINE
from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.gpu.lane_groups import LaneGroups
from racetrap.rtl.gpu.transaction_splitter import TransactionSplitter, is_access

_LINE_SHIFT = LINE_BYTES.bit_length() - 1
_WORD_SHIFT = WORD_BYTES.bit_length() - 1
#: Kinds that are one transaction.
_SINGLE = {
    IssueKind.FENCE: TransactionKind.FENCE,
    IssueKind.BARRIER: TransactionKind.BARRIER,
    IssueKind.BLOCK_START: TransactionKind.BLOCK_START,
}


class Coalescer(TransactionSplitter):
    """Transactions of each instruction, lines in ascending order.

    A word is in ``mask`` if any active lane touches it, and in ``lock_mask`` if in some lane a CAS
    changed 0 to 1 or an EXCH stored 0 at that lane's own address.  A release store counts as an
    EXCH.  Accesses to shared memory, and what no tracker sees, give none and take a cycle.

    A fence, barrier or start is valid in the cycle after it was taken, the first line of an access
    four cycles later than that.  A line of one lane follows in the next cycle, one of several lanes
    in two.  The next instruction is taken with the last line, or a cycle later.  ``ready`` depends
    on no ``valid``.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Its ports are those of ``TransactionSplitter``.
    """

    _params: ScordParams

    def elaborate(self, platform):
        m = Module()
        params = self._params
        operation = Signal(self.i.payload.shape(), reset_less=True)
        lanes, line_bits = params.lanes, params.address_bits - _LINE_SHIFT
        m.submodules.groups = groups = LaneGroups(lanes, line_bits, ascending=True)
        # The only transaction, or the lanes of a line.
        is_single, has_line = Signal(name="is_single"), Signal(name="has_line")
        line, group = Signal(line_bits, name="line"), Signal(lanes, name="group")
        given = self.i.payload
        moves = ~has_line | self.o.ready
        m.d.comb += [
            groups.i_start.eq(self.i.valid & self.i.ready & (is_access(given) & ~given.shared)),
            groups.i_lanes.eq(given.lanes),
            groups.i_keys.eq(Cat(address[_LINE_SHIFT:] for address in self._addresses(operation))),
            groups.i_group.eq(groups.o_same),
            groups.i_next.eq(groups.o_valid & moves),
            self.i.ready.eq(~groups.o_busy & moves & (~is_single | self.o.ready)),
            self.o.valid.eq(has_line | is_single),
            self.o_warp.eq(operation.warp),
            self.o_idle.eq(~groups.o_busy & ~has_line & ~is_single),
        ]
        with m.If(moves):
            m.d.sync += [
                has_line.eq(groups.o_valid), line.eq(groups.o_key),
                group.eq(groups.o_same),
            ]  # fmt: skip
        with m.If(self.i.ready):
            m.d.sync += is_single.eq(
                self.i.valid & Cat(given.kind == kind for kind in _SINGLE).any()
            )
            with m.If(self.i.valid):
                m.d.sync += operation.eq(given)
        self._elaborate_transaction(m, operation, line, group)
        return m

    def _addresses(self, operation: data.View) -> list[Value]:
        bits = self._params.address_bits
        return [operation.addresses.word_select(n, bits) for n in range(self._params.lanes)]

    def _elaborate_transaction(
        self, m: Module, operation: data.View, line: Value, group: Value
    ) -> None:
        """The transaction of a line, or the only one."""
        payload, kinds = self.o.payload, IssueKind
        is_release, is_atomic = Signal(name="is_release"), Signal(name="is_atomic")
        m.d.comb += [
            is_release.eq(
                (operation.kind == kinds.STORE) & (operation.order == MemoryOrder.RELEASE)
            ),
            is_atomic.eq(is_release | (operation.kind == kinds.ATOMIC)),
            payload.slot.eq(operation.slot),
        ]
        with m.Switch(operation.kind):
            with m.Case(kinds.FENCE):
                m.d.comb += [
                    payload.kind.eq(TransactionKind.FENCE), payload.warp.eq(operation.warp),
                    payload.scope.eq(operation.scope),
                ]  # fmt: skip
            with m.Case(kinds.BARRIER):
                m.d.comb += payload.kind.eq(TransactionKind.BARRIER)
            with m.Case(kinds.BLOCK_START):
                m.d.comb += [
                    payload.kind.eq(TransactionKind.BLOCK_START),
                    payload.mask.eq(operation.warps[:WORDS_PER_LINE]),
                    payload.lock_mask.eq(operation.warps[WORDS_PER_LINE:]),
                ]
            with m.Default():
                mask, lock_mask = self._masks(m, operation, group, is_release)
                m.d.comb += [
                    payload.kind.eq(
                        Mux(is_atomic, TransactionKind.ATOMIC.value, operation.kind)
                    ),
                    payload.scope.eq(operation.scope & is_atomic),
                    payload.strong.eq(operation.strong | is_atomic),
                    payload.op.eq(
                        Mux(is_release, AtomicOp.EXCH.value, Mux(is_atomic, operation.op, 0))
                    ),
                    payload.warp.eq(operation.warp), payload.pc.eq(operation.pc),
                    payload.line.eq(line), payload.mask.eq(mask),
                    payload.lock_mask.eq(Mux(is_atomic, lock_mask, 0)),
                ]  # fmt: skip

    def _masks(
        self, m: Module, operation: data.View, group: Value, is_release: Value
    ) -> tuple[Value, Value]:
        """Words of a line that a group of lanes touches, and those that are locks."""
        frees = is_release | (operation.op == AtomicOp.EXCH)
        takes = ~is_release & (operation.op == AtomicOp.CAS)
        changes = Signal(self._params.lanes, name="changes")
        m.d.comb += changes.eq(operation.marks & Mux(frees, ~0, Mux(takes, operation.success, 0)))
        touched: list[Value] = []
        locks: list[Value] = []
        for lane, address in enumerate(self._addresses(operation)):
            quarter, place = address[_WORD_SHIFT + 2 : _LINE_SHIFT], address[_WORD_SHIFT:][:2]
            # Of four words of a line, those touched, and the one that may be a lock.
            some, lock = Signal(4, name=f"some_{lane}"), Signal(4, name=f"lock_{lane}")
            # An aligned access to several words differs in none of their low bits.
            m.d.comb += [
                lock.eq(Mux(changes[lane], 1 << place, 0)),
                some.eq(
                    Mux(
                        operation.size >= 4, 0b1111,
                        Mux(operation.size >= 3, Mux(place[1], 0b1100, 0b0011), 1 << place),
                    )
                ),
            ]  # fmt: skip
            for words, four in ((touched, some), (locks, lock)):
                words.append(
                    Cat(Mux(quarter == q, four, 0) for q in range(WORDS_PER_LINE // len(four)))
                )
        mask, lock_mask = Signal(WORDS_PER_LINE, name="mask"), Signal(WORDS_PER_LINE, name="locks")
        m.d.comb += [
            mask.eq(one_hot_select(group, touched)),
            lock_mask.eq(one_hot_select(group, locks)),
        ]
        return mask, lock_mask
