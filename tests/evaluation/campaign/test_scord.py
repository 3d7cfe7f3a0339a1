"""Cases of a campaign: repeatable, counted, and their differences told."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from racetrap.evaluation.campaign import scord as campaign
from racetrap.evaluation.campaign.random_volume import Case, run_case, run_cases
from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.fast.packing import words_of
from racetrap.sim.cosim.scord.fast_simulation import FastSim

#: What a mute trace port would show.
_NO_STEPS = np.zeros((0, words_of(find_preset("scord-tiny").params.step_layout)), dtype=np.uint32)


@pytest.fixture
def small(monkeypatch):
    """Cases of a few hundred accesses."""
    monkeypatch.setattr(campaign, "_ACCESSES", (400, 100))


@pytest.mark.parametrize("number", range(7))
def test_case_agrees_and_can_be_repeated(scord_tiny, small, number):
    case = Case(scord_tiny, 1, number, has_coverage=False)
    first, again = run_case(case), run_case(case)
    assert first.difference == ""
    assert first.volume == first.counts["accesses"] > 100
    assert first.counts == again.counts
    assert first.counts.keys() == {"accesses", "races", "cycles"}
    assert first.coverage == {}


def test_cases_differ(scord_tiny, small):
    results = [run_case(Case(scord_tiny, seed, 0)) for seed in (1, 2)]
    assert results[0].counts["cycles"] != results[1].counts["cycles"]


def test_coverage_changes_nothing(scord_tiny, small):
    plain, covered = (run_case(Case(scord_tiny, 1, 2, covers)) for covers in (False, True))
    assert plain.counts == covered.counts
    assert covered.coverage["launch"] > 0


def test_difference_is_a_result(scord_tiny, small, monkeypatch):
    monkeypatch.setattr(FastSim, "step_words", lambda self, bank: _NO_STEPS)
    result = run_case(Case(scord_tiny, 1, 0))
    assert "SM 0: " in result.difference


def _run(scord_tiny, accesses):
    with ThreadPoolExecutor(2) as pool:
        return list(run_cases(scord_tiny, accesses, 1, pool, width=2))


def test_cases_until_enough(scord_tiny, small):
    results = _run(scord_tiny, 1500)
    assert sum(result.volume for result in results) >= 1500
    assert sorted(result.case.number for result in results) == list(range(len(results)))
    assert all(result.coverage["launch"] >= 2 for result in results)


def test_no_more_cases_after_a_difference(scord_tiny, small, monkeypatch):
    monkeypatch.setattr(FastSim, "step_words", lambda self, bank: _NO_STEPS)
    assert 1 <= len(_run(scord_tiny, 10**9)) <= 3
