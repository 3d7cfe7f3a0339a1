"""Window access: what a load or store is through the window that some of its lanes use.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.vortex.issue_decoder import LANES, Action
from racetrap.golden_model.vortex.window_access import MEMORY, MONITORED, WINDOW_SHIFT, Window
from racetrap.rtl.common.bits import total
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.vortex.issue_decoder import ISSUED


class WindowAccess(wiring.Component):
    """Makes the instruction of the lanes that use one window, combinationally.

    Parameters
    ----------
    params : GpuParams
        Configuration, of the size of a core.

    Members
    -------
    i : ``In(ISSUED)``
        A load or store.
    i_left : ``In(4)``
        Its lanes that are not done.
    o : ``Out(instruction_layout)``
        Instruction of all those that use the window of the lowest.
    o_group : ``Out(4)``
        These lanes.
    o_is_monitored : ``Out(1)``
        The window is one of the monitored memory.
    o_is_unsupported : ``Out(1)``
        Several lanes take a lock.
    """

    def __init__(self, params: GpuParams):
        super().__init__({
            "i": In(ISSUED),
            "i_left": In(LANES),
            "o": Out(struct_layout(params.instruction_layout)),
            "o_group": Out(LANES),
            "o_is_monitored": Out(1),
            "o_is_unsupported": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        issued, out, window = self.i, self.o, Signal(4, name="window")
        is_store, kind = issued.action == Action.STORE, window[:3]
        is_atomic, is_strong = kind > Window.STRONG, kind >= Window.STRONG
        is_cas = ~is_store & (kind == Window.LOCK)
        for lane in reversed(range(LANES)):
            with m.If(self.i_left[lane]):
                m.d.comb += window.eq(issued.addresses[lane][WINDOW_SHIFT:])
        near = Cat(address[WINDOW_SHIFT:] == window for address in issued.addresses)
        is_monitored = reduce(or_, [window == each for each in MONITORED])
        op, marks = self._operation(is_store, kind, is_cas)
        m.d.comb += [
            self.o_group.eq(self.i_left & near),
            self.o_is_monitored.eq(self.i_left.any() & is_monitored),
            self.o_is_unsupported.eq(
                self.o_is_monitored & is_cas & (total(list(issued.lanes)) > 1)
            ),
            out.kind.eq(
                Mux(is_atomic, IssueKind.ATOMIC, Mux(is_store, IssueKind.STORE, IssueKind.LOAD))
            ),
            *(out[name].eq(issued[name]) for name in ("slot", "warp", "pc", "size")),
            out.lanes.eq(self.o_group),
            out.strong.eq(is_strong),
            out.scope.eq(Mux(is_strong & window[3], Scope.DEVICE, Scope.BLOCK)),
            out.op.eq(Mux(is_atomic, op, 0)),
            out.marks.eq(self.o_group & marks),
            out.addresses.eq(
                Cat(
                    Cat(address[:WINDOW_SHIFT], Value.cast(MEMORY)) for address in issued.addresses
                )
            ),
        ]  # fmt: skip
        return m

    def _operation(self, is_store: Value, kind: Value, is_cas: Value) -> tuple[Value, Value]:
        """Operation of an atomic, and the lanes whose values matter."""
        issued = self.i
        is_exchange = is_store & (kind > Window.STRONG) & (kind != Window.COUNT)
        is_plain = is_store & (kind <= Window.STRONG)
        values = [
            Mux(issued.size == 0, value[:8], Mux(issued.size == 1, value[:16], value))
            for value in issued.values
        ]
        zero = Cat(value == 0 for value in values)
        unequal = Cat(self._differs(lane, values) for lane in range(LANES))
        op = Mux(is_exchange, AtomicOp.EXCH, Mux(is_cas, AtomicOp.CAS, AtomicOp.OTHER))
        marks = Mux(is_exchange, zero, Mux(is_plain, unequal, is_cas.replicate(LANES)))
        return op, marks

    def _differs(self, lane: int, values: list[Any]) -> Value:
        """Whether a lane stores another value than the lowest lane of its group does there."""
        addresses: data.View = self.i.addresses
        differs: Value = Value.cast(0)
        for other in reversed(range(lane)):
            is_same = self.o_group[other] & (addresses[other] == addresses[lane])
            differs = Mux(is_same, values[other] != values[lane], differs)
        return differs
