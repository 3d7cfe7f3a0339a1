"""Filter encoder against the golden lock table's filter."""

import random

import pytest

from racetrap.golden_model.scord.lock_hash import block_mask
from racetrap.golden_model.scord.lock_table import LockTable
from racetrap.golden_model.scord.packets import LockState
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.filter_encoder import FilterEncoder
from racetrap.rtl.scord.lock_table import lock_table_layout
from tests.support.rtl.combinational import evaluate


def check(params, cases):
    """Cases are (block, list of (hash, state))."""
    layout = lock_table_layout(params)
    stimulus, expected = [], []
    for block, entries in cases:
        padded = [*entries, *[(0, 0)] * (params.lock_table_depth - len(entries))]
        table = layout.const([{"hash": lock, "state": state} for lock, state in padded])
        stimulus.append({"i_table": table.as_bits(), "i_block_mask": block_mask(block)})
        model = LockTable(params.lock_table_depth)
        model.entries = entries
        expected.append(model.filter(block))
    assert evaluate(FilterEncoder(params), stimulus, "o_filter") == expected


def test_every_hash_and_state_of_one_lock():
    states = [state for state in LockState if state != LockState.INVALID]
    cases = [(37, [(lock, state)]) for lock in range(64) for state in states]
    check(ScordParams(lock_table_depth=1), cases)


@pytest.mark.parametrize("depth", [3, 4, 5])
def test_random_tables(depth):
    rng = random.Random(depth)
    states = [state for state in LockState if state != LockState.INVALID]
    cases = [
        (
            rng.randrange(120),
            [(rng.randrange(64), rng.choice(states)) for _ in range(rng.randint(0, depth))],
        )
        for _ in range(300)
    ]
    check(ScordParams(lock_table_depth=depth), cases)


def test_invalid_entries_do_not_count():
    layout = lock_table_layout(ScordParams())
    junk = layout.const([{"hash": lock, "state": LockState.INVALID} for lock in (1, 2, 33, 63)])
    stimulus = [{"i_table": junk.as_bits(), "i_block_mask": 5}]
    assert evaluate(FilterEncoder(ScordParams()), stimulus, "o_filter") == [0]
