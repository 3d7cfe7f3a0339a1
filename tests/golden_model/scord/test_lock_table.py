"""Lock table: transitions, and any history against a model that only remembers events."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.bloom_filter import filter_of_key
from racetrap.golden_model.scord.lock_hash import block_mask
from racetrap.golden_model.scord.lock_table import AFTER_FENCE, CAS_SCOPE, LockTable
from racetrap.golden_model.scord.packets import LockState

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "remove", "fence"]),
        st.sampled_from([3, 17, 40, 41, 63]),
        st.sampled_from([BLOCK, DEVICE]),
    ),
    max_size=40,
)


class History:
    """Naive model: for each lock taken, the fences since."""

    def __init__(self, depth):
        self.depth = depth
        self.taken = []  # oldest first: (hash, CAS scope, fences since)

    def insert(self, lock, scope):
        if all((lock, scope) != entry[:2] for entry in self.taken):
            self.taken = [*self.taken, (lock, scope, Counter())][-self.depth :]

    def remove(self, lock, scope):
        self.taken = [entry for entry in self.taken if entry[:2] != (lock, scope)]

    def fence(self, scope):
        for _, _, fences in self.taken:
            fences[scope] += 1

    def filter(self, block):
        bits = 0
        for lock, scope, fences in self.taken:
            if fences:
                bits |= filter_of_key(lock ^ block_mask(block))
            if fences[DEVICE] and scope == DEVICE:
                bits |= filter_of_key(lock)
        return bits


@given(OPERATIONS, st.integers(1, 5), st.integers(0, 119))
def test_any_history(operations, depth, block):
    table, history = LockTable(depth), History(depth)
    for name, lock, scope in operations:
        for model in (table, history):
            if name == "fence":
                model.fence(scope)
            else:
                getattr(model, name)(lock, scope)
        assert [entry[0] for entry in table.entries] == [e[0] for e in reversed(history.taken)]
        assert table.filter(block) == history.filter(block)


@pytest.mark.parametrize(
    ("cas", "fences", "state"),
    [
        (BLOCK, [], LockState.PENDING_BLOCK),
        (DEVICE, [], LockState.PENDING_DEVICE),
        (BLOCK, [BLOCK], LockState.HELD_BLOCK),
        (BLOCK, [DEVICE], LockState.HELD_BLOCK),
        (BLOCK, [BLOCK, DEVICE], LockState.HELD_BLOCK),
        (DEVICE, [BLOCK], LockState.HELD_BLOCK_BY_DEVICE),
        (DEVICE, [BLOCK, BLOCK], LockState.HELD_BLOCK_BY_DEVICE),
        (DEVICE, [DEVICE], LockState.HELD_DEVICE),
        (DEVICE, [BLOCK, DEVICE], LockState.HELD_DEVICE),
        (DEVICE, [DEVICE, BLOCK], LockState.HELD_DEVICE),
    ],
)
def test_state_after_fences(cas, fences, state):
    table = LockTable(4)
    table.insert(5, cas)
    for scope in fences:
        table.fence(scope)
    assert table.entries == [(5, state)]
    table.insert(5, cas)
    assert table.entries == [(5, state)]
    table.remove(5, BLOCK if cas == DEVICE else DEVICE)
    assert table.entries == [(5, state)]
    table.remove(5, cas)
    assert table.entries == []


def test_full_table_drops_the_oldest():
    table = LockTable(4)
    for lock in range(5):
        table.insert(lock, DEVICE)
    assert [lock for lock, _ in table.entries] == [4, 3, 2, 1]


def test_removal_closes_the_gap():
    table = LockTable(3)
    for lock in range(3):
        table.insert(lock, BLOCK)
    table.remove(1, BLOCK)
    table.insert(7, BLOCK)
    assert [lock for lock, _ in table.entries] == [7, 2, 0]


def test_every_valid_state_has_a_scope_and_both_transitions():
    valid = {state for state in LockState if state}
    assert set(CAS_SCOPE) == set(AFTER_FENCE[BLOCK]) == set(AFTER_FENCE[DEVICE]) == valid


def test_filter_of_each_state():
    mask = block_mask(9)
    for cas, fence, keys in (
        (BLOCK, None, []),
        (DEVICE, None, []),
        (BLOCK, DEVICE, [5 ^ mask]),
        (DEVICE, BLOCK, [5 ^ mask]),
        (DEVICE, DEVICE, [5, 5 ^ mask]),
    ):
        table = LockTable(4)
        table.insert(5, cas)
        if fence is not None:
            table.fence(fence)
        expected = 0
        for key in keys:
            expected |= filter_of_key(key)
        assert table.filter(9) == expected
