"""Causality beside the exact judge on random programs, and planted bugs that the judge must see."""

from collections.abc import Callable
from typing import Any

import pytest

from racetrap.golden_model.causality import detection_logic
from racetrap.golden_model.causality.collector import Collector
from racetrap.golden_model.causality.detector_bank import DetectorBank
from racetrap.golden_model.causality.knowledge import Knowledge
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.events import Event, EventKind, MemoryOrder
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.fit import region_with_window
from tests.support.causality.judged import UNLIMITED, judged, params_for
from tests.support.causality.random_traces import SOURCES
from tests.support.oracle.programs import BLOCK, DEVICE, Program

#: Two warps of block 0, one of block 1 and one of block 2.
MINE, NEAR, FAR, THIRD = (0, 0), (0, 1), (1, 0), (2, 0)
DATA, FLAG = 0x0, 0x100

FORMS = {
    "unlimited": UNLIMITED,
    "128 bits": {},
    "wraps": {"clock_bits": 4},
    "little": {"clock_bits": 5, "known": 1, "pending": 0, "seen": 0, "hash_bits": 8, "ratio": 64},
}


#: Of racy traces so many must have a report.
FOUND = {"random programs": 0.7, "random runs": 0.9, "litmus kernels": 0.85}


@pytest.fixture(scope="module")
def traces() -> dict[str, list[Trace]]:
    return {name: [trace for seed in range(25) for trace in SOURCES[name](seed)] for name in FOUND}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", FOUND)
def test_no_ordered_pair_is_reported(traces, source, form):
    racy = found = 0
    for number, trace in enumerate(traces[source]):
        verdict = judged(trace, **FORMS[form])
        assert not verdict.ordered, f"trace {number}"
        racy += bool(verdict.races)
        found += bool(verdict.races and verdict.reported)
    assert racy >= 12
    if form in ("unlimited", "128 bits"):
        assert found >= FOUND[source] * racy


@pytest.mark.parametrize("source", ["lock programs", "phase programs"])
def test_families_free_of_races_by_construction(source):
    for seed in range(12):
        (trace,) = SOURCES[source](seed)
        for form in FORMS.values():
            verdict = judged(trace, **form)
            assert not verdict.races, f"seed {seed}"
            assert not verdict.reported, f"seed {seed}"


def test_a_flag_released_between_two_arrivals_is_one():
    """The clock of the last arrival counts for both: it is no message of that warp."""
    trace = next(SOURCES["litmus kernels"](2366))
    for form in FORMS.values():
        verdict = judged(trace, **form)
        assert verdict.strong
        assert not verdict.races | verdict.reported


def test_lanes_of_a_cas_observe_the_store_of_a_lane_before_them():
    """Lane 2 fails because of lane 1, which stored: what it does next comes after that store."""
    (trace,) = SOURCES["random runs"](9347)
    for name, form in FORMS.items():
        verdict = judged(trace, **form)
        assert verdict.races
        assert not verdict.ordered, name


def _first_write_is_handed_on() -> Trace:
    """A release to a block, through an atomic of another block, and back."""
    program = Program()
    program.weak_store(MINE, DATA)
    program.fence(MINE, BLOCK, order=MemoryOrder.ACQ_REL)
    for warp in (MINE, FAR, NEAR):
        program.atomic(warp, FLAG)
    program.fence(NEAR, BLOCK, order=MemoryOrder.ACQ_REL)
    program.weak_load(NEAR, DATA)
    return program.trace


def _fences_in_order() -> Trace:
    """Two fences, between them writes of two warps to one word, which a third warp reads."""
    program = Program(blocks=4)
    program.weak_store(MINE, DATA)
    program.fence(MINE, DEVICE)
    program.store(MINE, FLAG, order=MemoryOrder.RELAXED)
    program.store(FAR, FLAG, order=MemoryOrder.RELAXED)
    program.load(THIRD, FLAG, order=MemoryOrder.RELAXED)
    program.fence(THIRD, DEVICE)
    program.weak_load(THIRD, DATA)
    return program.trace


def _write_is_observed() -> Trace:
    """What comes behind a read comes behind the write that it has read."""
    program = Program(blocks=4)
    program.store(MINE, DATA, order=MemoryOrder.RELAXED)
    program.load(FAR, DATA, order=MemoryOrder.RELAXED)
    program.store(FAR, FLAG, order=MemoryOrder.RELEASE)
    program.load(THIRD, FLAG, order=MemoryOrder.ACQUIRE)
    program.weak_load(THIRD, DATA)
    return program.trace


def _message_is_displaced() -> Trace:
    """A word that shares the flag's entry is read before the flag."""
    program = Program()
    program.weak_store(MINE, DATA)
    program.store(MINE, FLAG, order=MemoryOrder.RELEASE)
    trace = program.trace
    params = params_for(trace, ratio=64)
    entries = region_with_window(trace, params).entries(params)
    program.weak_load(MINE, FLAG + entries // 2 * WORD_BYTES)
    program.load(FAR, FLAG, order=MemoryOrder.ACQUIRE)
    program.weak_load(FAR, DATA)
    return program.trace


def _barrier_of_some_warps() -> Trace:
    """Two of three warps meet."""
    program = Program(warps=3)
    program.weak_store(MINE, DATA)
    program.weak_load(NEAR, DATA)
    trace = program.trace
    events = list(trace)
    place = next(i for i, event in enumerate(events) if event.kind == EventKind.LOAD)
    events.insert(place, Event(EventKind.PARTIAL_BARRIER, pc=0x3000, mask=3, grid_block=1))
    return Trace.from_events(trace.header, events)


def _little_program() -> Trace:
    return next(SOURCES["random programs"](10))


def _lanes_meet() -> Trace:
    return next(SOURCES["random runs"](2))


def _no(*arguments: Any) -> bool:
    return False


def _all_lanes(entry: Any, packet: Any, row: Any, lanes: int) -> int:
    return lanes


def _nothing(*arguments: Any, **settings: Any) -> None:
    return None


def _not_the_same_lane(self: WarpRow, side: Any, warp: int, block: int, lanes: int) -> int:
    return lanes & ~(1 << side.lane)


def _race(*arguments: Any) -> detection_logic.Conflict:
    return detection_logic.Conflict.RACE


#: What is wrong, where, and a trace and the form of the detector that show it.
PLANTED: dict[str, tuple[Any, str, Any, Callable[[], Trace], str]] = {
    "bits forgotten": (Knowledge, "has_bit", _no, _little_program, "little"),
    "lanes never meet": (
        WarpRow, "_unordered_lanes", _not_the_same_lane, _lanes_meet, "128 bits"
    ),
    "releases end at a block": (
        Collector, "_pass_through", _nothing, _first_write_is_handed_on, "128 bits"
    ),
    "messages not taken on": (
        Collector, "_take_on", _nothing, _first_write_is_handed_on, "128 bits"
    ),
    "fence order unseen": (Collector, "_see", _nothing, _fences_in_order, "128 bits"),
    "fence order not handed on": (
        Collector, "_pass_seen", _nothing, _fences_in_order, "128 bits"
    ),
    "nothing observed": (
        detection_logic, "_unordered_by_observers", _all_lanes, _write_is_observed, "128 bits"
    ),
    "acquires take nothing in": (Collector, "_take_in", _nothing, _write_is_observed, "128 bits"),
    "messages never met": (Collector, "_meet_message", _nothing, _write_is_observed, "128 bits"),
    "displaced messages lost": (DetectorBank, "_leads_on", _no, _message_is_displaced, "little"),
    "some warps meet in vain": (
        Collector, "_some_warps", _nothing, _barrier_of_some_warps, "128 bits"
    ),
    "strong pairs race": (detection_logic, "conflict", _race, _fences_in_order, "128 bits"),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_judge_sees_planted_bug(monkeypatch, bug):
    where, name, wrong, make, form = PLANTED[bug]
    trace = make()
    assert judged(trace, **FORMS[form]).reported <= judged(trace).races
    monkeypatch.setattr(where, name, wrong)
    verdict = judged(trace, **FORMS[form])
    assert verdict.reported - verdict.races
