"""Rules 18 to 23 and 38: kernels, blocks on slots, acting warps and ranks, by array operations.

The residency of a block is an interval of event numbers, from its BLOCK_PLACED to its
BLOCK_RETIRED; sorted by slot (or warp slot) and start, overlaps are neighbours and a binary search
finds the owner of a slot at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.events import BLOCK_BARRIERS, COPY_KINDS, MOST_RANKS, EventKind
from racetrap.golden_model.trace.container.arrays import ranges
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation, violation
from racetrap.golden_model.trace.gpu.schema import GPU_SCHEMA

#: More slots or warp slots than an SM can have: makes one key of an SM and a slot.
_SLOT_SPAN = 256
#: Events between kernels.
_BETWEEN_KERNELS = COPY_KINDS | {EventKind.AFTER}
#: Events of a warp, not of a block or the GPU.
_WARP_KINDS = [kind for kind, used in GPU_SCHEMA.used.items() if {"warp", "pc"} <= used]


def _key(events: np.ndarray, name: str) -> np.ndarray:
    return events["sm"].astype(np.int64) * _SLOT_SPAN + events[name]


class _Residencies(NamedTuple):
    """Intervals sorted by key (SM and slot or warp slot), then by start."""

    key: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def sort(cls, key: np.ndarray, start: np.ndarray, end: np.ndarray) -> _Residencies:
        order = np.lexsort((start, key))
        return cls(key[order], start[order], end[order])

    def owner(self, key: np.ndarray, time: np.ndarray, count: int) -> np.ndarray:
        """Start of the residency of ``key`` at ``time``, or -1; ``count`` exceeds all times."""
        if not len(self.key):
            return np.full(len(key), -1)
        found = np.searchsorted(self.key * count + self.start, key * count + time) - 1
        holds = (found >= 0) & (self.key[found] == key) & (time < self.end[found])
        return np.where(holds, self.start[found], -1)


def _kernel_violations(kind: np.ndarray) -> Iterator[RuleViolation]:
    mark = (kind == EventKind.KERNEL_BEGIN) | (kind == EventKind.KERNEL_END)
    marks = np.flatnonzero(mark)
    expected = np.resize([EventKind.KERNEL_BEGIN, EventKind.KERNEL_END], len(marks))
    yield RuleViolation(
        Rule.KERNEL,
        marks[kind[marks] != expected],
        lambda row: (
            "Kernel begins before the one before it has ended"
            if kind[row] == EventKind.KERNEL_BEGIN
            else "Kernel ends that has not begun"
        ),
    )
    yield RuleViolation(
        Rule.KERNEL,
        marks[-1:] if len(marks) % 2 else marks[:0],
        lambda row: "Trace ends before its kernel does",
    )
    begins = np.cumsum(kind == EventKind.KERNEL_BEGIN)
    ends = np.cumsum(kind == EventKind.KERNEL_END)
    outside = begins == ends
    between = GPU_SCHEMA.having(_BETWEEN_KERNELS)[kind]
    yield RuleViolation(
        Rule.KERNEL,
        np.flatnonzero(~mark & (outside != between)),
        lambda row: (
            f"Event {GPU_SCHEMA.name(kind[row])} must be "
            + ("in a kernel, not outside" if outside[row] else "outside all kernels, not in one")
        ),
    )


def _slot_violations(
    events: np.ndarray, order: np.ndarray, key: np.ndarray
) -> Iterator[RuleViolation]:
    """Rules 19 to 21; ``order`` has the placements and retirements by ``key`` and time."""
    kind = events["kind"]
    placed = kind[order] == EventKind.BLOCK_PLACED
    taken = np.zeros(len(order), dtype=bool)
    taken[1:] = placed[:-1] & (key[1:] == key[:-1])

    def slot(row: int) -> str:
        return f"Slot {events['slot'][row]} of SM {events['sm'][row]}"

    yield RuleViolation(
        Rule.SLOT_FREE,
        np.sort(order[placed & taken]),
        lambda row: f"{slot(row)} is taken when a block is placed",
    )
    yield RuleViolation(
        Rule.SLOT_TAKEN,
        np.sort(order[~placed & ~taken]),
        lambda row: f"{slot(row)} holds no block when one retires",
    )
    live = np.cumsum(kind == EventKind.BLOCK_PLACED) - np.cumsum(kind == EventKind.BLOCK_RETIRED)
    yield RuleViolation(
        Rule.ALL_RETIRED,
        np.flatnonzero((kind == EventKind.KERNEL_END) & (live != 0)),
        lambda row: f"Kernel ends while {live[row]} blocks are placed",
    )


def _warp_residencies(events: np.ndarray, residencies: _Residencies) -> _Residencies:
    """Residencies of the warp slots that the blocks take."""
    count = events["warp_count"][residencies.start].astype(np.int64)
    warps = ranges(_key(events, "warp")[residencies.start], count)
    start, end = np.repeat(residencies.start, count), np.repeat(residencies.end, count)
    return _Residencies.sort(warps, start, end)


def _actor_violations(
    events: np.ndarray, blocks: _Residencies, warps: _Residencies
) -> Iterator[RuleViolation]:
    """Rule 23: warps and barriers act only in a resident block."""
    kind = events["kind"]
    warp_kinds = GPU_SCHEMA.having(_WARP_KINDS)
    for rows, residencies, name in (
        (np.flatnonzero(warp_kinds[kind]), warps, "warp"),
        (np.flatnonzero(np.isin(kind, BLOCK_BARRIERS)), blocks, "slot"),
    ):
        actors = events[rows]
        owner = residencies.owner(_key(actors, name), rows, len(events))
        stranger = (owner < 0) | (events["slot"][owner] != actors["slot"])
        yield RuleViolation(
            Rule.PLACED,
            rows[stranger],
            lambda row, name=name: (  # type: ignore[misc]
                f"SM {events['sm'][row]} {name} {events[name][row]} acts, but slot "
                f"{events['slot'][row]} holds no block that it belongs to"
            ),
        )
    partial = kind[rows] == EventKind.PARTIAL_BARRIER
    count = np.where(owner < 0, 0, events["warp_count"][owner].astype(np.int64))
    absent = actors["mask"].astype(np.int64) >> count
    yield RuleViolation(
        Rule.PLACED,
        rows[partial & (absent != 0)],
        lambda row: f"Warps at a barrier must be of its block, not {events['mask'][row]:#x}",
    )


def rank_violation(events: np.ndarray) -> RuleViolation:
    """Rule 38: blocks of a cluster are placed one right after the other, by ascending rank."""
    placed = events["kind"] == EventKind.BLOCK_PLACED
    rank = np.where(placed, events["size"].astype(np.int64), -1)
    before = np.roll(rank, 1)
    before[:1] = -1
    wrong = (rank > 0) & ((rank != before + 1) | (rank >= MOST_RANKS))
    return violation(
        Rule.RANK,
        wrong,
        lambda row: (
            f"Rank must be 0, or below {MOST_RANKS} and one more than that of the block placed "
            f"right before, not {rank[row]}"
        ),
    )


def placement_violations(events: np.ndarray) -> Iterator[RuleViolation]:
    """Rules 18 to 23 in turn, the rows ascending."""
    kind = events["kind"]
    yield from _kernel_violations(kind)
    changes = np.flatnonzero((kind == EventKind.BLOCK_PLACED) | (kind == EventKind.BLOCK_RETIRED))
    key = _key(events[changes], "slot")
    by_key = np.argsort(key, kind="stable")
    order, key = changes[by_key], key[by_key]
    yield from _slot_violations(events, order, key)
    # Placements and retirements now alternate in each slot, without leftovers.
    blocks = _Residencies(key[0::2], order[0::2], order[1::2])
    warps = _warp_residencies(events, blocks)
    overlap = (warps.key[1:] == warps.key[:-1]) & (warps.start[1:] < warps.end[:-1])
    yield RuleViolation(
        Rule.WARPS_FREE,
        np.sort(warps.start[1:][overlap]),
        lambda row: (
            f"Warps {events['warp'][row]} to {events['warp'][row] + events['warp_count'][row] - 1} "
            f"of SM {events['sm'][row]} are not all free when a block is placed"
        ),
    )
    yield from _actor_violations(events, blocks, warps)
