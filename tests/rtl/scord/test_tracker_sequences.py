"""Tracker on short sequences with a purpose: lock states, eviction, block start, barriers."""

import itertools

import pytest

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from tests.support.campaign import later_but
from tests.support.scord.tracker_bench import atomic, cas, exch, fence, load, run

KIND, OP = TransactionKind, AtomicOp

SEQUENCES = {
    "held only after the fence": [cas(0), load(), fence(), load(), exch(0), load()],
    "block fence holds a device CAS at block scope": [cas(0), fence(Scope.BLOCK), load()],
    "a device fence promotes it": [cas(0), fence(Scope.BLOCK), fence(), load()],
    "three nested device locks": [
        *(step for word in (0, 1, 2) for step in (cas(word), fence(), load())),
        *(step for word in (2, 1, 0) for step in (fence(), exch(word), load())),
    ],
    "the oldest of five leaves": [*(cas(word) for word in range(5)), fence(), load()],
    "eviction within one instruction": [cas(0, 1, 2, 3, 4, 5), fence(), load()],
    "taken again while held": [cas(0), fence(), cas(0), load(), exch(0), load()],
    "scopes are different locks": [
        cas(0), cas(0, scope=Scope.BLOCK), fence(), load(),
        exch(0, scope=Scope.BLOCK), load(), exch(0), load(),
    ],
    "released in another order": [
        cas(0, 1, 2, 3), fence(), exch(1), exch(3), load(), exch(0), load(),
    ],
    "taken and released back to back": [
        *(step for _ in range(4) for step in (cas(0), exch(0), cas(1))), fence(), load(),
    ],
    "only successful words count": [cas(0, 1, 2, lock_mask=0b010), fence(), load()],
    "other atomics do not lock": [atomic(OP.OTHER, 0b11), fence(), load()],
    "the filter of an EXCH still has the lock": [cas(0), fence(), exch(0), exch(0)],
    "a warp of its own": [cas(0, warp=1), fence(warp=1), load(), load(warp=1), fence(), load()],
    "keys of each block": [
        *(load(slot=slot) for slot in range(8)),
        cas(0), fence(), *(load(slot=slot) for slot in range(8)),
    ],
    "a new block has no locks": [
        *(cas(0, warp=warp) for warp in range(4)), *(fence(warp=warp) for warp in range(4)),
        Transaction(KIND.BLOCK_START, mask=0b0110), *(load(warp=warp) for warp in range(4)),
    ],
    "a table emptied and used at once": [
        cas(0), Transaction(KIND.BLOCK_START, mask=1), cas(1),
        Transaction(KIND.BLOCK_START, mask=0b11), fence(), load(),
    ],
    "barriers of each block": [
        load(), Transaction(KIND.BARRIER, slot=0), load(), load(slot=1),
        *[Transaction(KIND.BARRIER, slot=1)] * 3, load(), load(slot=1), fence(slot=1),
    ],
    "a block's barrier ids go on": [
        Transaction(KIND.BARRIER, slot=2), Transaction(KIND.BLOCK_START, slot=2, mask=1),
        load(slot=2),
    ],
    "barrier ids wrap": [
        *[Transaction(KIND.BARRIER)] * 255, load(), Transaction(KIND.BARRIER), load(),
    ],
    "generations of each block slot": [
        load(), Transaction(KIND.BLOCK_START, slot=0, mask=0b111), load(), load(slot=1),
        *[Transaction(KIND.BLOCK_START, slot=1, mask=0b1001)] * 3, load(), load(slot=1),
        fence(slot=1), Transaction(KIND.BLOCK_START, slot=1, mask=1 << 31), load(slot=1), cas(0),
    ],
    "starts of blocks beside their warps' accesses": [
        step for slot in (0, 1, 0, 1, 1, 0)
        for step in (Transaction(KIND.BLOCK_START, slot=slot, mask=0b11 << slot), load(slot=0),
                     load(slot=1))
    ],
    "empty masks": [
        load(mask=0), cas(), Transaction(KIND.BLOCK_START), fence(), load(mask=0), load(),
    ],
}  # fmt: skip


_RATES = {"full-rate": None, "idle": "idle"}
#: Half of them at full rate, the others with gaps; the campaign has both of each.
_NOW = {(name, list(_RATES)[at % 2]) for at, name in enumerate(SEQUENCES)}


@pytest.mark.parametrize(
    ("name", "rate"), later_but(_NOW.__contains__, itertools.product(SEQUENCES, _RATES))
)
def test_sequences(name, rate):
    seed = _RATES[rate]
    params = ScordParams(slot_generation_bits=2)
    run(params, SEQUENCES[name], sm=3, seed=seed and f"{seed} {name}")
