"""Transitions of a word's state in hardware: the rules of the golden model, by family.

Ref: HiRace (SC'24), the state table of its published artefact.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.hirace.params import STATE_BITS
from racetrap.golden_model.hirace.states import Access, Family, Relation, State, Sync
from racetrap.golden_model.hirace.transitions import EXCEPTIONS, FIRST

_FORM = data.StructLayout({"family": 3, "width": 2, "shield": 2})
_WARP, _BLOCK, _BOTH = 1, 2, 3


class Transitions(wiring.Component):
    """State that an access leaves behind.  Combinational.

    Members
    -------
    i_state : ``In(STATE_BITS)``
        State before (``State``).
    i_access, i_sync, i_relation : ``In(2)``
        Access, widest barrier since the last access, and what the two threads share.
    o_state : ``Out(STATE_BITS)``
        State after.
    o_race : ``Out(1)``
        The access makes the word's state RACE.
    """

    def __init__(self) -> None:
        super().__init__({
            "i_state": In(STATE_BITS),
            "i_access": In(2),
            "i_sync": In(2),
            "i_relation": In(2),
            "o_state": Out(STATE_BITS),
            "o_race": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        before, after = Signal(_FORM), Signal(_FORM)
        width, is_ordered = Signal(2), Signal()
        self._elaborate_form(m, before)
        m.d.comb += [
            width.eq(Mux(before.width > self.i_relation, before.width, self.i_relation)),
            is_ordered.eq(width <= self.i_sync),
            after.family.eq(Family.RACE),
        ]
        with m.If(before.family == Family.INIT):
            self._elaborate_first(m, after)
        with m.Elif(before.family != Family.RACE):
            with m.Switch(self.i_access):
                with m.Case(Access.WRITE):
                    with m.If(is_ordered):
                        m.d.comb += after.family.eq(Family.WRITE)
                with m.Case(Access.READ):
                    self._elaborate_read(m, before, after, width, is_ordered)
                with m.Default():
                    self._elaborate_atomic(m, before, after, width, is_ordered)
        self._elaborate_state(m, after)
        m.d.comb += self.o_race.eq((self.o_state == State.RACE) & (self.i_state != State.RACE))
        return m

    def _elaborate_form(self, m: Module, before) -> None:
        with m.Switch(self.i_state):
            for state in State:
                with m.Case(state):
                    m.d.comb += [before[name].eq(value) for name, value in _fields(state)]

    def _elaborate_first(self, m: Module, after) -> None:
        with m.Switch(self.i_access):
            for access in Access:
                with m.Case(access):
                    m.d.comb += after.family.eq(FIRST[access].form.family)

    def _elaborate_read(self, m: Module, before, after, width: Value, is_ordered: Value) -> None:
        with m.Switch(before.family):
            with m.Case(Family.READ):
                m.d.comb += [
                    after.family.eq(Family.READ),
                    after.width.eq(Mux(is_ordered, Relation.SAME_THREAD, width)),
                ]
            with m.Case(Family.SYNC):
                self._elaborate_shielded(m, before, after, width, is_ordered)
            with m.Default():
                with m.If(is_ordered):
                    self._elaborate_shield(m, after, Family.SYNC)

    def _elaborate_atomic(self, m: Module, before, after, width: Value, is_ordered: Value) -> None:
        are_of_grid = (before.family == Family.GRID_ATOMIC) & (self.i_access == Access.GRID_ATOMIC)
        with m.Switch(before.family):
            with m.Case(Family.BLOCK_ATOMIC, Family.GRID_ATOMIC):
                # For the whole grid there are states only for atomics of device scope.
                m.d.comb += [
                    after.family.eq(Mux(are_of_grid, Family.GRID_ATOMIC, Family.BLOCK_ATOMIC)),
                    after.width.eq(Mux(is_ordered, Relation.SAME_THREAD, width)),
                ]
            with m.Case(Family.SYNC_ATOMIC):
                self._elaborate_shielded(m, before, after, width, is_ordered)
            with m.Default():
                with m.If(is_ordered):
                    self._elaborate_shield(m, after, Family.SYNC_ATOMIC)
                    with m.If(self.i_state == State.READ):
                        m.d.comb += [after.family.eq(Family.WRITE), after.shield.eq(0)]

    def _elaborate_shield(self, m: Module, after, family: Family) -> None:
        """First access behind a barrier after plain ones, or another of the same thread."""
        m.d.comb += [
            after.family.eq(Mux(self.i_sync == Sync.NONE, Family.WRITE, family)),
            after.shield.eq(self.i_sync),
        ]

    def _elaborate_shielded(
        self, m: Module, before, after, width: Value, is_ordered: Value
    ) -> None:
        """Further access of the kind that a barrier shields."""
        is_wider = (self.i_sync == Sync.BLOCK) | (before.shield == _WARP)
        both = Mux(before.family == Family.SYNC, _BOTH, _BLOCK)
        barrier = Mux(before.shield == _BOTH, _BLOCK, before.shield)
        with m.If(is_ordered & (self.i_sync == Sync.NONE)):
            m.d.comb += after.eq(before)
        with m.Elif(is_ordered):
            m.d.comb += [
                after.family.eq(before.family),
                after.shield.eq(Mux(is_wider, self.i_sync, both)),
            ]
        with m.Elif(width <= barrier):
            m.d.comb += [
                after.family.eq(before.family), after.width.eq(width), after.shield.eq(barrier),
            ]  # fmt: skip

    def _elaborate_state(self, m: Module, after) -> None:
        """Code of a form, RACE if it has none, and the entries that follow no rule."""
        m.d.comb += self.o_state.eq(State.RACE)
        with m.Switch(Value.cast(after)):
            for state in State:
                with m.Case(_FORM.const(dict(_fields(state))).as_value().value):
                    m.d.comb += self.o_state.eq(state)
        for (state, access, sync, relation), following in EXCEPTIONS.items():
            with m.If(
                (self.i_state == state)
                & (self.i_access == access)
                & (self.i_sync == sync)
                & (self.i_relation == relation)
            ):
                m.d.comb += self.o_state.eq(following)


def _fields(state: State) -> list[tuple[str, int]]:
    """Fields of a state's form."""
    return [(name, int(value)) for name, value in state.form._asdict().items()]
