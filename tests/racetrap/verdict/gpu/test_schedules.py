"""Schedules that a check runs by itself: when it goes on, and what it finds."""

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.events import USUAL_GEOMETRY, DataRegion, TraceHeader
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.sim.gpu.suites.micro.scheduler import (
    BlockPlacement,
    random_schedule,
    reverse,
    round_robin,
    run_program,
)
from racetrap.verdict.gpu.schedules import MOST_SCHEDULES, ScheduleSearch, scheduler_of
from racetrap.verdict.gpu.trace_check import MOST_FINDING, Detector, TraceCheck

_REGION = program_region()
_HEADER = TraceHeader(
    geometry=USUAL_GEOMETRY, region=DataRegion(_REGION.data_base, _REGION.size_log2)
)
_RANDOM_ALONE = {"random": lambda number: random_schedule(number)}
_AS_THE_COMMANDS = _RANDOM_ALONE | {
    "round-robin": lambda number: round_robin,
    "newest-first": lambda number: reverse,
}


def _check(program, orders, *, has_detector: bool, seed: int) -> TraceCheck:
    detector = Detector(MOST_FINDING, find_preset(MOST_FINDING).params) if has_detector else None
    check = TraceCheck(detector=detector)

    def add(number: int) -> None:
        order = orders.get(scheduler_of(number, "round-robin"), orders["random"])
        events = run_program(program, order(seed + number), BlockPlacement.OTHER_SMS)
        check.add(Trace.from_events(_HEADER, events))

    add(0)
    for number in ScheduleSearch().further(check):
        add(number)
    return check


@pytest.mark.parametrize("seed", [1, 50])
@pytest.mark.parametrize(
    ("orders", "has_detector"), [(_AS_THE_COMMANDS, False), (_RANDOM_ALONE, True)]
)
def test_all_racy_micro_benchmarks_are_found_and_no_other(orders, has_detector, seed):
    """Either by the order of contenders turned around, or by the detector's report of a race that
    no run has shown yet."""
    found = {}
    for program in MICRO_BENCHMARKS.values():
        check = _check(program, orders, has_detector=has_detector, seed=seed)
        assert 3 <= len(check.events) <= MOST_SCHEDULES
        found[program.name] = bool(check.pairs)
    assert sum(found.values()) == 23
    assert [name for name, racy in found.items() if name.startswith("race_") and not racy] == []


def _numbers(search: ScheduleSearch, found: list[set[str]], **fields: object) -> list[int]:
    """Schedules that are run if the first finds ``found[0]``, and so on."""
    check = TraceCheck()
    for name, value in fields.items():
        setattr(check, name, value)
    taken = []

    def add(number: int) -> None:
        check.faults += sorted(found[min(number, len(found) - 1)])

    add(0)
    for number in search.further(check):
        taken.append(number)
        add(number)
    return taken


def test_two_in_a_row_that_add_nothing_are_the_last():
    assert _numbers(ScheduleSearch(), [set()]) == [1, 2]
    assert _numbers(ScheduleSearch(), [{"a"}, {"a"}, {"b"}]) == [1, 2, 3, 4]
    assert _numbers(ScheduleSearch(most=9), [set(), {"a"}]) == [1, 2, 3]
    assert _numbers(ScheduleSearch(most=2), [set()]) == [1]


def test_a_number_of_schedules_that_is_given():
    assert _numbers(ScheduleSearch(4), [set()]) == [1, 2, 3]
    assert _numbers(ScheduleSearch(1), [{"a"}, {"b"}]) == []


def test_none_begins_that_would_end_after_the_budget(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("racetrap.verdict.gpu.schedules.monotonic", lambda: now[0])
    check, taken = TraceCheck(), []
    search = ScheduleSearch(most=9, seconds=60)
    now[0] += 11
    for number in search.further(check):
        taken.append(number)
        check.faults.append(str(number))
        now[0] += 11 * number
    assert taken == [1, 2]  # 16 s are left, and the second one took 22 s
    assert check.ending == "of at most 9; 60 s are too short for another"


def test_none_begins_after_the_budget_or_a_kernel_without_an_end():
    assert _numbers(ScheduleSearch(seconds=-1), [set()]) == []
    assert _numbers(ScheduleSearch(), [set()], hangs=True) == []
    assert _numbers(ScheduleSearch(), [set()], ended_early=1) == [1, 2]
