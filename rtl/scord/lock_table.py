"""Lock tables of an SM: the locks that each warp is taking or holds.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock", Fig. 6.
"""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.lock_table import AFTER_FENCE, CAS_SCOPE
from racetrap.golden_model.scord.packets import LockState
from racetrap.golden_model.scord.params import LOCK_HASH_BITS, LOCK_STATE_BITS, ScordParams


class LockOperation(enum.Enum, shape=3):  # type: ignore[call-arg]  # Amaranth's metaclass
    """Operation of an access on its warp's lock table."""

    NONE = 0
    INSERT = 1
    REMOVE = 2
    FENCE = 3
    EMPTY = 4


def _by_state(table: Mapping[LockState, int], default: int) -> Array:
    """``table`` as an array over all codes of a state, including unused ones."""
    by_code = {int(state): value for state, value in table.items()}
    return Array(by_code.get(code, default) for code in range(1 << LOCK_STATE_BITS))


def lock_table_layout(params: ScordParams) -> data.ArrayLayout:
    """One warp's table: hash and ``LockState`` of each lock, newest first, then all 0."""
    entry = data.StructLayout({"hash": LOCK_HASH_BITS, "state": LOCK_STATE_BITS})
    return data.ArrayLayout(entry, params.lock_table_depth)


class LockTable(wiring.Component):
    """One operation on one warp's lock table; combinational.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_table : ``In(lock_table_layout(params))``
        Table before.
    i_operation : ``In(LockOperation)``
        Successful CAS (insert), EXCH of 0 (remove), fence, or start of a block (clear).
    i_hash : ``In(6)``
        Hash of the lock, to insert or remove.
    i_scope : ``In(1)``
        Scope of the atomic or the fence.
    o_table : ``Out(lock_table_layout(params))``
        Table after.
    """

    def __init__(self, params: ScordParams):
        super().__init__({
            "i_table": In(lock_table_layout(params)),
            "i_operation": In(LockOperation),
            "i_hash": In(LOCK_HASH_BITS),
            "i_scope": In(1),
            "o_table": Out(lock_table_layout(params)),
        })  # fmt: skip
        self._depth = params.lock_table_depth

    def elaborate(self, platform):
        m = Module()
        match = Signal(self._depth)
        m.d.comb += match.eq(Cat(self._is_this_lock(entry) for entry in self.i_table))
        m.d.comb += self.o_table.eq(self.i_table)
        with m.Switch(self.i_operation):
            with m.Case(LockOperation.INSERT):
                with m.If(~match.any()):
                    m.d.comb += self._insert()
            with m.Case(LockOperation.REMOVE):
                m.d.comb += self._remove(match)
            with m.Case(LockOperation.FENCE):
                for before, after in zip(self.i_table, self.o_table, strict=True):
                    m.d.comb += after.state.eq(self._after_fence(before.state))
            with m.Case(LockOperation.EMPTY):
                m.d.comb += self.o_table.as_value().eq(0)
        return m

    def _is_this_lock(self, entry):
        """Whether an entry has the hash and the CAS scope asked for."""
        scope = _by_state(CAS_SCOPE, Scope.BLOCK)
        return (
            (entry.state != LockState.INVALID)
            & (entry.hash == self.i_hash)
            & (scope[entry.state] == self.i_scope)
        )

    def _insert(self):
        """The new lock comes first; if the table is full, the last one is dropped."""
        first = self.o_table[0]
        return [
            first.hash.eq(self.i_hash),
            first.state.eq(Mux(self.i_scope, LockState.PENDING_DEVICE, LockState.PENDING_BLOCK)),
            *(self.o_table[k].eq(self.i_table[k - 1]) for k in range(1, self._depth)),
        ]

    def _remove(self, match):
        """The entries behind the removed one move up."""
        width = LOCK_HASH_BITS + LOCK_STATE_BITS
        shifted = self.i_table.as_value() >> width
        return [
            self.o_table[k].as_value().eq(
                Mux(
                    match[: k + 1].any(),
                    shifted[k * width : (k + 1) * width],
                    self.i_table[k].as_value(),
                )
            )
            for k in range(self._depth)
        ]  # fmt: skip

    def _after_fence(self, state):
        """State of an entry after a fence of ``i_scope``."""
        block = _by_state(AFTER_FENCE[Scope.BLOCK], LockState.INVALID)
        device = _by_state(AFTER_FENCE[Scope.DEVICE], LockState.INVALID)
        return Mux(self.i_scope, device[state], block[state])


class LockTables(wiring.Component):
    """The lock tables of all warps of an SM, as two pipeline stages.

    First stage: with ``i_fetch`` the table of ``i_warp`` is read.  Second stage, from the next
    cycle until the next fetch: ``o_table`` is that table; with ``i_commit`` the operation is
    done on it and the result stored.  A fetch and a commit may share a cycle, also on one warp
    (one operation a cycle).  Every table is emptied after reset and by ``i_clear``, which takes
    a cycle for each warp; nothing may be fetched or committed meanwhile.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_fetch, i_warp : ``In(1)``, ``In(warp_bits)``
        Read the table of this warp.
    o_table : ``Out(lock_table_layout(params))``
        Table of the warp fetched last, before its operation.
    i_commit, i_operation, i_hash, i_scope : ``In(1)`` and as in :class:`LockTable`
        Operation on the warp fetched last.
    i_clear : ``In(1)``
        Empty all tables, from the next cycle on.
    o_busy : ``Out(1)``
        Tables are being emptied.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_fetch": In(1),
            "i_warp": In(params.warp_bits),
            "o_table": Out(lock_table_layout(params)),
            "i_commit": In(1),
            "i_operation": In(LockOperation),
            "i_hash": In(LOCK_HASH_BITS),
            "i_scope": In(1),
            "i_clear": In(1),
            "o_busy": Out(1, init=1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        layout = lock_table_layout(self._params)
        m.submodules.table = table = LockTable(self._params)
        m.submodules.memory = memory = Memory(
            shape=layout, depth=self._params.warps_per_sm, init=[]
        )
        read = memory.read_port()
        write = memory.write_port()

        warp = Signal(self._params.warp_bits)
        is_write = Signal()
        # The read port does not see a write in its own cycle: keep that result in a register.
        forward = Signal()
        forwarded = Signal(layout)
        m.d.comb += [
            read.addr.eq(self.i_warp),
            read.en.eq(self.i_fetch),
            self.o_table.eq(Mux(forward, forwarded, read.data)),
            table.i_table.eq(self.o_table),
            table.i_operation.eq(self.i_operation),
            table.i_hash.eq(self.i_hash),
            table.i_scope.eq(self.i_scope),
            is_write.eq(self.i_commit & (self.i_operation != LockOperation.NONE)),
            write.addr.eq(warp),
            write.data.eq(table.o_table),
            write.en.eq(is_write),
        ]
        with m.If(self.i_fetch):
            m.d.sync += [
                warp.eq(self.i_warp),
                forward.eq(is_write & (warp == self.i_warp)),
                forwarded.eq(table.o_table),
            ]
        self._elaborate_sweep(m, write)
        return m

    def _elaborate_sweep(self, m: Module, write):
        sweep = Signal(range(self._params.warps_per_sm))
        with m.If(self.o_busy):
            m.d.comb += [
                write.addr.eq(sweep),
                write.data.as_value().eq(0),
                write.en.eq(1),
            ]
            m.d.sync += sweep.eq(sweep + 1)
            with m.If(sweep == self._params.warps_per_sm - 1):
                m.d.sync += [self.o_busy.eq(0), sweep.eq(0)]
        with m.Elif(self.i_clear):
            m.d.sync += self.o_busy.eq(1)
