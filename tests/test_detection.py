"""Detection in suites: causality beside the exact judge, HiRace where it knows what orders."""

import pytest

from racetrap.evaluation.hirace.sweep import SWEPT, hirace_quality
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.generators.presets import find_preset
from racetrap.golden_model.causality.warp_row import WarpRow
from tests.detection import DETECTORS, SUITES, constructs, micro_benchmarks, rows

#: Causality and those that it is compared with.
_CAUSALITY = [name for name in DETECTORS if name.startswith("causality")]


def test_every_racy_micro_benchmark_has_a_report():
    counted = rows(micro_benchmarks(schedules=1, by_paper=True), ("hirace", "scord-nocache"))
    hirace, scord = counted["hirace"], counted["scord-nocache"]
    assert hirace.found == hirace.racy == scord.found == scord.racy == 18
    # Fences, flags and locks are unknown to it.
    assert 0 == scord.reported < hirace.reported < hirace.race_free == scord.race_free


def test_causality_judges_micro_benchmarks_as_the_judge():
    row = rows(micro_benchmarks(schedules=1), ["causality"])["causality"]
    assert (row.found, row.reported, row.ordered, row.strong) == (23, 0, 0, 0)
    assert (row.racy, row.race_free, row.missed) == (23, 9, [])


def test_atomics_alone_are_judged_without_a_mistake():
    for name, row in rows(constructs("Atomics of other types"), ("hirace", *_CAUSALITY)).items():
        assert row.found == row.racy > 0, name
        assert row.reported == 0 < row.race_free, name


def test_reports_that_the_method_imposes_are_counted():
    """Fences and strong accesses order nothing for HiRace."""
    counted = rows(constructs("Fences"), ("hirace", *_CAUSALITY))
    assert 0 < counted["hirace"].reported <= counted["hirace"].race_free
    assert counted["hirace"].ordered > 0
    for name in _CAUSALITY:
        row = counted[name]
        assert (row.found, row.reported, row.ordered) == (row.racy, 0, 0)


def test_misses_and_ordered_pairs_are_counted_by_name(monkeypatch):
    monkeypatch.setattr(WarpRow, "unordered", lambda *_: 0)
    row = rows(constructs("Atomics of other types"), ["causality"])["causality"]
    assert (row.found, len(row.missed)) == (0, row.racy)
    monkeypatch.setattr(WarpRow, "unordered", lambda *arguments: arguments[-1])
    row = rows(constructs("Fences"), ["causality"])["causality"]
    assert row.reported > 0
    assert row.ordered >= len(row.wrong) > 0


@pytest.mark.campaign
@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite != "applications, small"])
def test_causality_reports_nothing_that_is_ordered(suite, seed):
    # Tables without limits take their time on an application.
    for name, row in rows(SUITES[suite](2000, seed), ("causality-nocache", "causality")).items():
        assert not row.ordered, f"{name}: {row.wrong}"


@pytest.mark.parametrize("workload", SWEPT.workloads)
def test_quality_counts_runs_and_races(workload):
    spec = QualitySpec(workloads=(workload,), schedules=1, seed=1)
    quality = hirace_quality(find_preset("hirace").params, spec)
    assert quality.runs > 0
    assert quality.races > quality.misses >= 0
