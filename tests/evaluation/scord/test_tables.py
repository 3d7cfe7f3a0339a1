"""Counting of Tables VI and VII from made-up runs."""

from __future__ import annotations

from collections import Counter

from racetrap.evaluation.scord.programs import Build, Schedule
from racetrap.evaluation.scord.runs import BuildRun, RunResult
from racetrap.evaluation.scord.tables import make_tables
from racetrap.golden_model.scord.packets import RaceKind
from racetrap.verdict.scord.detect import DETECTORS
from racetrap.verdict.scord.missed import Cause

RACE = (0x40, int(RaceKind.MISSING_LOCK))
PAIR = (0x40, 0x48, "missing-lock")


def result(build: Build, number: int, **found: object) -> RunResult:
    return RunResult(BuildRun(build, "tiny", Schedule(number, 1), 1, {}, "cached"), **found)


def test_a_race_counts_once_however_many_schedules_show_it() -> None:
    build = Build("RED", "RED", frozenset({"one"}))
    runs = [
        result(build, number, oracle={PAIR}, detectors={"base": {RACE}, "cached": set()},
               outcomes=Counter({Cause.TAG_CONFLICT: 1}))
        for number in range(3)
    ]  # fmt: skip
    tables = make_tables(runs)
    row = tables.races[0]
    assert (row.builds, row.oracle, row.base, row.cached, row.hardware) == (1, 1, 1, 0, None)
    assert tables.builds[0].outcomes == Counter({Cause.TAG_CONFLICT: 3})


def test_builds_with_several_switches_are_not_counted_again() -> None:
    one, two = frozenset({"one"}), frozenset({"two"})
    runs = [
        result(Build("RED", "RED", switches), 0, oracle={PAIR},
               detectors={"base": {RACE}, "cached": {RACE}})
        for switches in (one, two, one | two)
    ]  # fmt: skip
    assert make_tables(runs).races[0].cached == 2


def test_total_sums_the_rows() -> None:
    runs = [
        result(Build(row, row, frozenset({"one"})), 0, oracle={PAIR},
               detectors={"base": {RACE}, "cached": {RACE}})
        for row in ("RED", "UTS")
    ]  # fmt: skip
    total = make_tables(runs).races[-1]
    assert (total.name, total.cached, total.paper.present) == ("Total", 2, 8)


def test_false_races_are_the_different_ones_of_all_runs() -> None:
    build = Build("GCOL", "GCOL")
    other = (0x48, RACE[1])
    runs = [
        result(build, number, detectors={name: set() for name in DETECTORS} | {"byte8": races})
        for number, races in enumerate(({RACE}, {RACE, other}, set()))
    ]
    row = make_tables(runs).false_races[0]
    assert row.counts == {"base": 0, "cached": 0, "byte8": 2, "byte16": 0}
    assert row.runs == 3


def test_a_report_is_confirmed_by_a_race_of_its_instructions_in_any_run() -> None:
    build = Build("RED", "RED", frozenset({"one"}))
    stray = (0x48, RACE[1])
    nothing: dict[str, set[tuple[int, int]]] = {"base": set(), "cached": set()}
    runs = [
        result(build, 0, detectors=nothing, reports={RACE: {0x90}, stray: {0x90}}),
        result(build, 1, detectors=nothing, reports={RACE: {0x48}}, oracle={PAIR}),
    ]
    assert make_tables(runs).builds[0].unconfirmed == [stray]
