"""What HiRace finds in the suites: every race where it knows what orders, and nothing else."""

import pytest

from racetrap.evaluation.hirace.sweep import SWEPT, hirace_quality
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.generators.presets import find_preset
from tests.hirace_detection import constructs, micro_benchmarks


def test_every_racy_micro_benchmark_has_a_report():
    hirace, scord = micro_benchmarks("hirace"), micro_benchmarks("scord-nocache")
    assert hirace.found == hirace.racy == scord.racy == 18
    # Fences, flags and locks are unknown to it.
    assert 0 == scord.reported < hirace.reported < hirace.race_free == scord.race_free


def test_atomics_alone_are_judged_without_a_mistake():
    count = constructs("hirace", "Atomics of other types")
    assert count.found == count.racy > 0
    assert count.reported == 0 < count.race_free


def test_reports_that_the_method_imposes_are_counted():
    """Fences and strong accesses order nothing for it."""
    count = constructs("hirace", "Fences")
    assert 0 < count.reported <= count.race_free


@pytest.mark.parametrize("workload", SWEPT.workloads)
def test_quality_counts_runs_and_races(workload):
    spec = QualitySpec(workloads=(workload,), schedules=1, seed=1)
    quality = hirace_quality(find_preset("hirace").params, spec)
    assert quality.runs > 0
    assert quality.races > quality.misses >= 0
