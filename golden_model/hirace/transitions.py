"""Transitions of a word's state by an access, with one rule for each family.

An access is *ordered* after those that the state represents if the accessor has since passed a
barrier of all their threads, or if there is only one thread.

Ref: HiRace (SC'24), the state table of its published artefact.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType

from racetrap.golden_model.hirace.states import Access, Family, Form, Relation, State, Sync

#: State of each form.
STATE_OF: Mapping[Form, State] = MappingProxyType({state.form: state for state in State})
#: State after the first access to a word.
FIRST: Mapping[Access, State] = MappingProxyType({
    Access.READ: State.READ,
    Access.WRITE: State.WRITE,
    Access.BLOCK_ATOMIC: State.BATOM,
    Access.GRID_ATOMIC: State.GATOM,
})  # fmt: skip
#: Entries of the artefact's table that differ from the rules.  For the first four a narrower state
#: would suffice, since a barrier of the block intervened; the last loses the second thread.
EXCEPTIONS: Mapping[tuple[State, Access, Sync, Relation], State] = MappingProxyType({
    **{
        (State.BATOM_B, access, Sync.BLOCK, relation): State.BATOM_B
        for access in (Access.BLOCK_ATOMIC, Access.GRID_ATOMIC)
        for relation in (Relation.SAME_THREAD, Relation.SAME_WARP)
    },
    (State.WSYNC_ATOM, Access.GRID_ATOMIC, Sync.NONE, Relation.SAME_WARP): State.WSYNC_ATOM,
})  # fmt: skip


def transition(state: State, access: Access, sync: Sync, relation: Relation) -> State:
    """State after an access, as in the artefact's table."""
    key = (state, access, sync, relation)
    return EXCEPTIONS[key] if key in EXCEPTIONS else rule(*key)


def rule(state: State, access: Access, sync: Sync, relation: Relation) -> State:
    """State after an access, by the rules alone."""
    family = state.form.family
    if family == Family.RACE:
        return State.RACE
    if family == Family.INIT:
        return FIRST[access]
    width = max(state.form.width, relation)
    is_ordered = width <= sync
    if access == Access.WRITE:
        return State.WRITE if is_ordered else State.RACE
    if access == Access.READ:
        return _read(state, sync, width, is_ordered)
    if family in (Family.BLOCK_ATOMIC, Family.GRID_ATOMIC):
        both = family == Family.GRID_ATOMIC and access == Access.GRID_ATOMIC
        return _atomic_after_atomic(both, Relation.SAME_THREAD if is_ordered else width)
    return _atomic(state, sync, width, is_ordered)


def _read(state: State, sync: Sync, width: int, is_ordered: bool) -> State:
    family = state.form.family
    if family == Family.READ:
        return STATE_OF[Form(family, Relation(0 if is_ordered else width))]
    if family == Family.SYNC:
        return _shielded(state, sync, width, is_ordered)
    # The read is of the earlier write: a barrier shields it, if there is one.
    if not is_ordered:
        return State.RACE
    return (State.WRITE, State.WSYNC, State.BSYNC)[sync]


def _atomic(state: State, sync: Sync, width: int, is_ordered: bool) -> State:
    """Atomic after plain accesses, or after atomics that a barrier shields from these."""
    if state.form.family == Family.SYNC_ATOMIC:
        return _shielded(state, sync, width, is_ordered)
    if not is_ordered:
        return State.RACE
    if state == State.READ:
        return State.WRITE
    return (State.WRITE, State.WSYNC_ATOM, State.BSYNC_ATOM)[sync]


def _atomic_after_atomic(are_of_grid: bool, width: int) -> State:
    family = Family.GRID_ATOMIC if are_of_grid else Family.BLOCK_ATOMIC
    return STATE_OF.get(Form(family, Relation(width)), State.RACE)


def _shielded(state: State, sync: Sync, width: int, is_ordered: bool) -> State:
    """Further access of the state's own kind, with a barrier before all of them."""
    family, _, shield = state.form
    if is_ordered:
        if sync == Sync.NONE:
            return state
        # A barrier of the warp follows that of the block; only reads distinguish the two.
        is_wider = sync == Sync.BLOCK or shield == Sync.WARP
        both = 3 if family == Family.SYNC else Sync.BLOCK
        return STATE_OF[Form(family, Relation.SAME_THREAD, int(sync) if is_wider else both)]
    barrier = min(shield, Sync.BLOCK)
    return STATE_OF[Form(family, Relation(width), barrier)] if width <= barrier else State.RACE


#: All transitions as codes: state, access, synchronisation and relation are the index's digits.
TRANSITIONS: tuple[int, ...] = tuple(
    int(transition(*key)) for key in product(State, Access, Sync, Relation)
)
