"""Rule 24: nesting of IF, ELSE and FI of each warp, by array operations.

In a legal trace the nesting depth at an event is a running sum over its warp, and the events at one
depth of one warp repeat IF, ELSE, FI; so after one sort by warp and depth, neighbours are compared.

Ref: BARRACUDA (PLDI'17) Section 3.1.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation

#: More slots and warp slots than an SM can have: makes one key of an SM, or block, and a slot.
_SLOT_SPAN = _WARP_SPAN = 256
#: Change of depth by IF, ELSE and FI in turn.
_DEPTH_CHANGE = np.array([1, 0, -1])
_FI = 2
_NEEDS = ("", "an IF", "an ELSE")


def _time_in_slot(events: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Number that orders rows by SM and block slot, then by time."""
    slot = events["sm"][rows].astype(np.int64) * _SLOT_SPAN + events["slot"][rows]
    times: np.ndarray = slot * len(events) + rows
    return times


def _by_warp(events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of IF, ELSE and FI by warp, then by time, and the number of the warp of each.

    A warp slot reused by another block is another warp.
    """
    kind = events["kind"]
    rows = np.flatnonzero((kind >= EventKind.IF) & (kind <= EventKind.FI))
    placed = np.flatnonzero(kind == EventKind.BLOCK_PLACED)
    # Rule 23 ensures that each row has an earlier placement in its slot.
    block = np.searchsorted(np.sort(_time_in_slot(events, placed)), _time_in_slot(events, rows))
    warp = block * _WARP_SPAN + events["warp"][rows]
    by_warp = np.argsort(warp, kind="stable")
    return rows[by_warp], warp[by_warp]


def divergence_violation(events: np.ndarray) -> RuleViolation:
    """First event that breaks rule 24, if there is one."""
    rows, warp = _by_warp(events)
    if not len(rows):
        return RuleViolation(Rule.DIVERGENCE, rows, lambda row: "")
    step = (events["kind"][rows] - np.uint8(EventKind.IF)).astype(np.int64)
    change = _DEPTH_CHANGE[step]
    total = np.cumsum(change)
    first = np.searchsorted(warp, warp)
    # The depth of a branch is that after its IF, up to and including its FI.
    depth = total - (total - change)[first] + (step == _FI)
    order = np.lexsort((rows, depth, warp))
    rows, warp, step, depth = rows[order], warp[order], step[order], depth[order]
    mask = events["mask"][rows]

    follows = np.zeros(len(rows), dtype=bool)
    follows[1:] = (warp[1:] == warp[:-1]) & (depth[1:] == depth[:-1])
    follows[1:] &= (step[:-1] + 1) % 3 == step[1:]
    alone = (step > 0) & ~follows
    overlap = (step == 1) & follows & (mask & np.roll(mask, 1) != 0)
    sides = np.roll(mask, 1) | np.roll(mask, 2)
    strangers = (step == _FI) & follows & (mask & ~sides != 0)
    broken = np.flatnonzero(alone | overlap | strangers)
    if not len(broken):
        return RuleViolation(Rule.DIVERGENCE, broken, lambda row: "")
    at = broken[rows[broken].argmin()]
    name = EventKind(events["kind"][rows[at]]).name
    if alone[at]:
        sentence = f"{name} does not follow {_NEEDS[step[at]]} of its warp and depth"
    elif overlap[at]:
        sentence = f"Lanes of ELSE are among those of IF: {mask[at]:#x}"
    else:
        sentence = f"Lanes of FI must be lanes of IF or ELSE ({sides[at]:#x}), not {mask[at]:#x}"
    return RuleViolation(Rule.DIVERGENCE, rows[[at]], lambda row: sentence)
