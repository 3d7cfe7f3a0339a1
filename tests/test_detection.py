"""Detection in suites: causality beside the exact judge, HiRace where it knows what orders."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest
from click.testing import CliRunner

from racetrap.commands.shared import long_work
from racetrap.evaluation.hirace.sweep import SWEPT, hirace_quality
from racetrap.evaluation.processes import InThisProcess
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.generators.presets import find_preset
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.verdict.causality.missed import Cause
from racetrap.verdict.gpu.oracle import REPORTED
from tests import detection
from tests.support.detection.counting import Part, count_part, rows
from tests.support.detection.suites import SUITES, constructs, micro_benchmarks

#: Causality and those that it is compared with.
_CAUSALITY = ["causality-unlimited", "causality-nocache", "causality"]


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


def test_misses_have_causes():
    """A race is reported, or the later of its instructions is, or it is counted by its cause."""
    unlimited, tight = rows(
        SUITES["random programs"].programs(0, 30), ("causality-unlimited", "causality")
    ).values()
    assert {name.partition(" ")[0] for name in unlimited.missed} < {f"{n}.0" for n in range(30)}
    assert [name for name in unlimited.missed if name.count(" ") == 0] == []
    assert unlimited.outcomes[REPORTED] > tight.outcomes[REPORTED] > 0
    assert tight.outcomes[Cause.TAG_CONFLICT] > unlimited.outcomes[Cause.TAG_CONFLICT] == 0
    assert tight.outcomes.total() == unlimited.outcomes.total()


def test_few_entries_and_early_wraps_are_missed_more():
    names = ("causality-nocache", "causality, 4 entries", "causality, wraps at 8")
    whole, few, early = rows(SUITES["litmus kernels"].programs(0, 60), names).values()
    assert 0 < few.found < whole.found < whole.racy
    assert 0 < early.found < whole.found
    assert (whole.ordered, few.ordered, early.ordered) == (0, 0, 0)


def test_parts_give_the_suite():
    whole = count_part(Part("random runs", 3, 9, ("causality-nocache",)))
    parts = [count_part(Part("random runs", *each, ("causality-nocache",)))
             for each in ((3, 5), (5, 9))]  # fmt: skip
    assert (
        parts[0]["causality-nocache"] + parts[1]["causality-nocache"]
        == (whole["causality-nocache"])
    )


def test_a_trace_runs_alone():
    row = count_part(Part("litmus kernels", 3, 4, ("causality-nocache",), "3.1"))
    assert row["causality-nocache"].runs == 1


def test_command_counts_enough_traces_and_writes_them(tmp_path, monkeypatch):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    monkeypatch.setitem(SUITES, "random runs", replace(SUITES["random runs"], step=2))
    monkeypatch.setattr(long_work, "processes", lambda jobs: nullcontext(InThisProcess()))
    file = tmp_path / "rows.json"
    words = ["random runs", "--detector", "hirace", "--budget", "5", "--json", str(file)]
    first = CliRunner().invoke(detection.command, words)
    assert first.exit_code == 0, first.output
    found = json.loads(file.read_text())
    row = found["tables"]["random runs"]["hirace"]
    assert (row["runs"], row["racy"] + row["race_free"], found["complete"]) == (6, 6, True)
    again = CliRunner().invoke(detection.command, words)
    assert "from 0 to 2" in first.output
    assert "1 of 1 rows kept from before" in again.output


@pytest.mark.campaign
@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite != "applications, small"])
def test_causality_reports_nothing_that_is_ordered(suite, seed):
    # Tables without limits take their time on an application.
    first, last = (seed, seed + 1000) if SUITES[suite].count is None else (0, SUITES[suite].count)
    part = Part(suite, first, last, ("causality-nocache", "causality"))
    for name, row in count_part(part).items():
        assert not row.ordered, f"{name}: {row.wrong}"


@pytest.mark.parametrize("workload", SWEPT.workloads)
def test_quality_counts_runs_and_races(workload):
    spec = QualitySpec(workloads=(workload,), schedules=1, seed=1)
    quality = hirace_quality(find_preset("hirace").params, spec)
    assert quality.runs > 0
    assert quality.races > quality.misses >= 0
