"""Causes of missed races, each made to happen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from racetrap.generators.scord import SCORD
from racetrap.golden_model.events import (
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    Scope,
    TraceHeader,
)
from racetrap.golden_model.scord.access_buffer import is_sampled
from racetrap.golden_model.scord.bloom_filter import filter_of_key, share_a_lock
from racetrap.golden_model.scord.lock_hash import block_mask, lock_hash
from racetrap.golden_model.trace import Trace
from racetrap.verdict.scord.missed import Cause, Pair, causes

PARAMS = SCORD.presets["scord"].params
BASE, SIZE_LOG2 = 0x1_0000, 16
WORD = BASE
#: A word that shares its metadata entry with ``WORD``.
OTHER_TAG = BASE + (1 << SIZE_LOG2) // PARAMS.ratio
LOCKS = BASE + 0x800


def trace(*acts: Event) -> Trace:
    """Acts of warp 0 of the blocks in slot 0 of the first SMs."""
    blocks = range(3)
    events = [
        Event(EventKind.KERNEL_BEGIN),
        *(Event(EventKind.BLOCK_PLACED, sm, 0, 0, warp_count=2, grid_block=sm) for sm in blocks),
        *acts,
        *(Event(EventKind.BLOCK_RETIRED, sm, 0) for sm in blocks),
        Event(EventKind.KERNEL_END),
    ]
    geometry = Geometry(PARAMS.sm_count, PARAMS.blocks_per_sm, PARAMS.warps_per_sm)
    header = TraceHeader(geometry=geometry, region=DataRegion(BASE, SIZE_LOG2))
    return Trace.from_events(header, events)


def access(kind: EventKind, sm: int, address: int = WORD, warp: int = 0) -> Event:
    return Event(kind, sm, 0, warp, Scope.DEVICE, True, pc=0x40, size=4, lanes=(Lane(0, address),))


def store(sm: int, address: int = WORD, warp: int = 0) -> Event:
    return access(EventKind.STORE, sm, address, warp)


def load(sm: int, address: int = WORD, warp: int = 0) -> Event:
    return access(EventKind.LOAD, sm, address, warp)


def atomic(sm: int, scope: Scope) -> Event:
    return Event(
        EventKind.ATOMIC, sm, scope=scope, strong=True, op=AtomicOp.OTHER, pc=0x60, size=4,
        lanes=(Lane(0, WORD),),
    )  # fmt: skip


def fence(sm: int, scope: Scope = Scope.DEVICE) -> Event:
    return Event(EventKind.FENCE, sm, scope=scope, pc=0x44)


def take(sm: int, lock: int) -> list[Event]:
    lanes = (Lane(0, lock, 1, 0, True),)
    cas = Event(
        EventKind.ATOMIC, sm, scope=Scope.DEVICE, strong=True, op=AtomicOp.CAS, pc=0x48, size=4,
        lanes=lanes,
    )  # fmt: skip
    return [cas, fence(sm)]


def free(sm: int, lock: int) -> list[Event]:
    exch = Event(
        EventKind.ATOMIC, sm, scope=Scope.DEVICE, strong=True, op=AtomicOp.EXCH, pc=0x4C, size=4,
        lanes=(Lane(0, lock),),
    )  # fmt: skip
    return [fence(sm), exch]


def colliding_locks() -> tuple[int, int]:
    """Two locks that look like one to different blocks."""

    def locks(address: int, sm: int) -> int:
        key = lock_hash(address >> 2)
        return filter_of_key(key) | filter_of_key(key ^ block_mask(PARAMS.block_id(sm, 0)))

    for other in range(LOCKS + 4, LOCKS + 0x400, 4):
        if share_a_lock(locks(LOCKS, 0), locks(other, 1)):
            return LOCKS, other
    raise AssertionError("no two locks look common")


def critical(sm: int, lock: int) -> list[Event]:
    return [*take(sm, lock), store(sm), *free(sm, lock)]


ONE, OTHER = colliding_locks()
CASES = {
    Cause.REPORTED: [store(0), load(1)],
    Cause.TAG_CONFLICT: [store(0), store(2, OTHER_TAG), load(1)],
    # The reader inside the block becomes the owner; the block fence was not enough for others.
    Cause.HANDED_OVER: [store(0), fence(0, Scope.BLOCK), load(0, warp=1), load(1)],
    Cause.BLOOM_COLLISION: [*critical(0, ONE), *critical(1, OTHER)],
    Cause.LOCK_IN_COMMON: [*critical(0, ONE), *critical(1, ONE)],
    Cause.FENCE_SEEN: [store(0), fence(0), load(1)],
    # The scope of an atomic is looked at in the earlier access alone.
    Cause.NO_RULE: [atomic(0, Scope.DEVICE), atomic(1, Scope.BLOCK)],
    Cause.BARRIER_SEEN: [store(0), Event(EventKind.BARRIER, 0, 0, pc=0x50), load(0, warp=1)],
}


@pytest.mark.parametrize("cause", CASES)
def test_cause(cause: Cause) -> None:
    run = trace(*CASES[cause])
    on_word = [
        number for number, event in enumerate(run) if event.lanes and event.lanes[0].address == WORD
    ]
    pair = Pair(on_word[0], on_word[-1], WORD)
    assert causes(run, PARAMS, [pair]) == [cause]


def test_every_cause_is_tried() -> None:
    assert {*CASES, Cause.LEFT_OUT} == set(Cause)


def test_access_that_is_not_sampled() -> None:
    run = trace(store(0), load(1))
    params = replace(PARAMS, access_buffer_depth=1, access_policy="sample", sample_log2=1)
    assert not is_sampled(WORD >> 7, 1)
    assert causes(run, params, [Pair(4, 5, WORD)]) == [Cause.LEFT_OUT]


def test_accesses_that_overlap_in_part() -> None:
    """The later access is wider and begins before the word that both touch."""
    wide = Event(
        EventKind.LOAD, 1, 0, 0, Scope.DEVICE, True, pc=0x40, size=16, lanes=(Lane(0, WORD),)
    )
    run = trace(store(0, WORD + 8), wide)
    assert causes(run, PARAMS, [Pair(4, 5, WORD)]) == [Cause.REPORTED]
