"""Random cases of the bus monitor agree with the golden model, and differences are told."""

import pytest

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.noncoherent import campaign
from racetrap.golden_model.noncoherent.interval_cam import IntervalCam
from racetrap.sim.cosim.noncoherent.coverage import Coverage
from racetrap.sim.cosim.noncoherent.fast_simulation import FastSim
from racetrap.sim.cosim.noncoherent.monitor_software import MonitorSoftware


@pytest.fixture
def small(monkeypatch):
    """Cases of about a thousand operations."""
    monkeypatch.setattr(campaign, "_RUNS", 4)
    monkeypatch.setattr(campaign, "_OPERATIONS", 250)


def test_cases_agree_can_be_repeated_and_cover_every_bin(noncoherent_tiny):
    first, again = (run_case(Case(noncoherent_tiny, 1, 0)) for _ in range(2))
    assert first.difference == ""
    assert first.volume == first.counts["operations"] == 12_000
    assert first.counts.keys() == {
        "operations", "rows", "races", "compactions", "bursts", "bursts_lost", "cycles"
    }  # fmt: skip
    assert (first.counts, first.digest) == (again.counts, again.digest)
    coverage = Coverage(noncoherent_tiny.params)
    coverage.merge(first.coverage)
    assert coverage.missed == []


@pytest.mark.parametrize(
    ("kind", "method", "change", "sentence"),
    [
        (FastSim, "step_words", lambda words: words[:-1], "Steps must number"),
        (FastSim, "step_words", lambda words: words ^ 1, "Step 0 must be"),
        (FastSim, "reports", lambda records: records[1:], "Counter reports_written must be"),
        (FastSim, "reports", lambda records: [one ^ 1 << 40 for one in records], "Report 0 must"),
        (MonitorSoftware, "counters", lambda counters: counters | {"rows": 0}, "Counter rows"),
    ],
)
def test_difference_is_a_result(
    noncoherent_tiny, small, monkeypatch, kind, method, change, sentence
):
    real = getattr(kind, method)
    monkeypatch.setattr(kind, method, lambda self: change(real(self)))
    assert sentence in run_case(Case(noncoherent_tiny, 1, 1)).difference


def test_a_model_with_other_entries_is_found(noncoherent_tiny, small, monkeypatch):
    real = IntervalCam.remove
    monkeypatch.setattr(
        IntervalCam, "remove", lambda self, first, end: real(self, first, end - (end - first > 3))
    )
    assert "must be" in run_case(Case(noncoherent_tiny, 1, 0)).difference
