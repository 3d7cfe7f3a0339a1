"""What becomes of the oracle's races that causality does not report."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.events import MemoryOrder
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.verdict.causality.findings import find_races
from racetrap.verdict.causality.missed import Cause, outcomes
from racetrap.verdict.causality.verdict import VERDICT
from racetrap.verdict.gpu.fit import region_with_window
from racetrap.verdict.gpu.oracle import NOT_CHECKED, REPORTED
from tests.support.causality.judged import UNLIMITED, params_for
from tests.support.causality.random_traces import SOURCES
from tests.support.oracle.programs import DEVICE, SHARED, Program

#: Two warps of block 0, two of block 1, one of block 2.
MINE, NEAR, FAR, BESIDE_FAR, THIRD = (0, 0), (0, 1), (1, 0), (1, 1), (2, 0)
DATA, FLAG, OTHER = 0x0, 0x100, 0x200
RELAXED, ACQUIRE, RELEASE = MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE
_SHARING = 64
_LITTLE = {
    "clock_bits": 5, "known": 1, "pending": 0, "seen": 0, "hash_bits": 8, "ratio": _SHARING,
}  # fmt: skip


def _outcomes(trace: Trace, **settings: int) -> dict[tuple[int, int], str]:
    """Outcome of each race, by the program counters of both accesses."""
    races = run_oracle(trace, JUDGE, bool(trace.header.independent_threads)).races
    found = outcomes(trace, params_for(trace, **settings), races)
    return {
        (race.first.pc, race.second.pc): outcome for race, outcome in zip(races, found, strict=True)
    }


def _hand_over(program: Program) -> tuple[int, int]:
    """The entry has the last of two writers, which a barrier orders before the reader."""
    first = program.weak_store(MINE, DATA)
    program.weak_store(FAR, DATA)
    program.barrier(1)
    return first, program.weak_load(BESIDE_FAR, DATA)


def _read_a_flag(program: Program) -> tuple[int, int]:
    """A lane releases; another writes a flag, which to the detector is of the same warp."""
    program.fence(MINE, DEVICE)
    first = program.store(MINE, FLAG, lanes=2)
    second = program.load(FAR, FLAG)
    program.fence(FAR, DEVICE)
    return first, second


def _acquire_at_once(program: Program) -> tuple[int, int]:
    """The same, but the read itself acquires."""
    program.fence(MINE, DEVICE)
    first = program.store(MINE, FLAG, lanes=2)
    return first, program.load(FAR, FLAG, order=ACQUIRE)


def _observe(program: Program) -> tuple[int, int]:
    """Two warps read a write; a third one may come behind either of them."""
    first = program.store(MINE, DATA, order=RELAXED)
    for warp in (NEAR, FAR):
        program.load(warp, DATA, order=RELAXED)
    return first, program.weak_load(THIRD, DATA)


def _fill_the_table(program: Program) -> tuple[int, int]:
    """With one bit for all blocks, who knows anything of one knows it of all."""
    first = program.weak_store(MINE, DATA)
    program.store(FAR, FLAG, order=RELEASE)
    program.load(THIRD, FLAG, order=ACQUIRE)
    return first, program.weak_load(THIRD, DATA)


def _conflicting(program: Program, address: int) -> int:
    """Address of another word that shares an entry."""
    trace = program.trace
    params = params_for(trace, ratio=_SHARING)
    return address + region_with_window(trace, params).entries(params) // 2 * WORD_BYTES


def _displace(program: Program) -> tuple[int, int]:
    first = program.weak_store(MINE, DATA)
    program.weak_load(MINE, _conflicting(program, DATA))
    return first, program.weak_load(FAR, DATA)


def _lose_a_message(program: Program) -> tuple[int, int]:
    """The message of one block is displaced, so that it may be one of another."""
    first = program.weak_store(THIRD, OTHER)
    program.store(MINE, FLAG, order=RELEASE)
    program.weak_load(MINE, _conflicting(program, FLAG))
    program.load(FAR, FLAG, order=ACQUIRE)
    return first, program.weak_load(FAR, OTHER)


def _wrap(program: Program) -> tuple[int, int]:
    first = program.weak_store(MINE, DATA)
    for _ in range(8):
        program.fence(NEAR, DEVICE)
    return first, program.weak_load(FAR, DATA)


def _learn_too_much(program: Program) -> tuple[int, int]:
    """A lane releases what it has done; the clock is that of its warp."""
    first = program.weak_store(MINE, DATA, lanes=2)
    program.store(MINE, FLAG, lanes=1, order=RELEASE)
    program.load(FAR, FLAG, order=ACQUIRE)
    return first, program.weak_load(FAR, DATA)


def _join_lanes(program: Program) -> tuple[int, int]:
    """Two lanes write a byte each: the entry has both bytes, and no lane."""
    first = program.weak_store(MINE, DATA, lanes=3, stride=1, size=1)
    return first, program.weak_load(MINE, DATA, lanes=4)


_CASES: dict[Cause, tuple[Callable[[Program], tuple[int, int]], dict[str, int]]] = {
    Cause.HANDED_OVER: (_hand_over, UNLIMITED),
    Cause.FLAG: (_read_a_flag, UNLIMITED),
    Cause.ACQUIRED: (_acquire_at_once, UNLIMITED),
    Cause.OBSERVED: (_observe, UNLIMITED),
    Cause.FULL_TABLE: (_fill_the_table, {"known": 0, "pending": 0, "hash_bits": 1}),
    Cause.TAG_CONFLICT: (_displace, {"ratio": _SHARING}),
    Cause.LOST_MESSAGE: (_lose_a_message, {"ratio": _SHARING}),
    Cause.CLOCK_WRAP: (_wrap, {"clock_bits": 3}),
    Cause.LEARNT: (_learn_too_much, UNLIMITED),
    Cause.LANES: (_join_lanes, UNLIMITED),
}


@pytest.mark.parametrize("cause", _CASES)
def test_cause_of_a_miss(cause):
    write, settings = _CASES[cause]
    program = Program(blocks=4)
    pair = write(program)
    trace = program.trace
    trace = Trace.from_events(replace(trace.header, independent_threads=1), list(trace))
    assert _outcomes(trace, **settings)[pair] == cause


@pytest.mark.parametrize("cause", [Cause.TAG_CONFLICT, Cause.CLOCK_WRAP, Cause.FULL_TABLE,
                                   Cause.LOST_MESSAGE])  # fmt: skip
def test_what_fits_is_reported(cause):
    """What was missed for want of room is found where there is room."""
    program = Program(blocks=4)
    pair = _CASES[cause][0](program)
    assert _outcomes(program.trace, **UNLIMITED)[pair] == REPORTED


def test_late_report_counts():
    """A flag whose reader never acquires is a race, known at the end of its block."""
    program = Program(blocks=4)
    program.fence(MINE, DEVICE)
    pair = program.store(MINE, FLAG), program.load(FAR, FLAG)
    assert _outcomes(program.trace)[pair] == REPORTED


def test_shared_memory_is_checked_inside_the_window():
    program = Program()
    program.weak_store(MINE, 0x100, **SHARED)
    program.weak_load(NEAR, 0x100, **SHARED)
    trace = program.trace
    assert {*_outcomes(trace).values()} == {REPORTED}
    for size in (0x100, 0):
        assert {*_outcomes(trace, shared_bytes=size).values()} == {NOT_CHECKED["shared"]}
    unwatched = [VERDICT.unwatched_shared(trace, params_for(trace, shared_bytes=size))
                 for size in (0x100, 0)]  # fmt: skip
    assert unwatched == [0, 2]


def test_word_outside_the_region_is_not_checked():
    program = Program()
    program.weak_store(MINE, 1 << 40)
    program.weak_load(FAR, 1 << 40)
    assert {*_outcomes(program.trace).values()} == {NOT_CHECKED["outside"]}


def _random_traces() -> Iterator[Trace]:
    for source in SOURCES.values():
        for seed in range(8):
            yield from source(seed)


@pytest.mark.parametrize("settings", [UNLIMITED, _LITTLE], ids=["unlimited", "little"])
def test_every_miss_has_a_cause_and_what_is_reported_has_a_report(settings):
    seen = set()
    for trace in _random_traces():
        reports = {each.access.pc for each in find_races(trace, params_for(trace, **settings))[1]}
        for (_, second), outcome in _outcomes(trace, **settings).items():
            assert outcome != Cause.NO_RULE
            assert outcome != REPORTED or second in reports
            seen.add(outcome)
    assert {REPORTED, Cause.HANDED_OVER, Cause.FLAG} < seen


def test_order_without_a_table_is_more_than_was_released(monkeypatch):
    program = Program()
    pair = program.weak_store(MINE, DATA), program.weak_load(FAR, DATA)
    trace = program.trace
    assert _outcomes(trace)[pair] == REPORTED
    monkeypatch.setattr(WarpRow, "unordered", lambda *_: 0)
    assert _outcomes(trace)[pair] == Cause.LEARNT
