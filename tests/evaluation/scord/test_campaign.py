"""Cases of a campaign: repeatable, counted, and their differences told."""

from random import Random

import numpy as np
import pytest

from racetrap.evaluation.campaign.random_volume import Case, is_enough, run_case
from racetrap.evaluation.scord import campaign
from racetrap.generators.presets import PRESETS, find_preset
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.packing import words_of
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.verilator.patch import Patch

#: What a mute trace port would show.
_NO_STEPS = np.zeros((0, words_of(find_preset("scord-tiny").params.step_layout)), dtype=np.uint32)


@pytest.fixture
def small(monkeypatch):
    """Cases of a few hundred accesses, with a short sweep."""
    monkeypatch.setattr(campaign, "ACCESSES", (400, 100))
    monkeypatch.setattr(campaign, "_SWEEP_LOG2", 10)


@pytest.mark.parametrize("number", range(7))
def test_case_agrees_and_can_be_repeated(scord_tiny, small, number):
    case = Case(scord_tiny, 1, number, has_coverage=False)
    first, again = run_case(case), run_case(case)
    assert first.difference == ""
    assert first.volume == first.counts["accesses"] > 100
    assert (first.counts, first.digest) == (again.counts, again.digest)
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


@pytest.mark.parametrize("name", [each for each in PRESETS if each.startswith("scord")])
def test_regions_have_all_sizes(name):
    params = PRESETS[name].params
    random = Random(1)
    regions = [campaign._region(random, params, sweep=False) for _ in range(1000)]
    for region in regions:
        region.check(params)
    sizes = {region.size_log2 for region in regions}
    assert sizes == set(range(params.min_region_log2, max(sizes) + 1))
    assert max(sizes) >= min(params.max_region_log2, params.address_bits - 4)
    assert campaign._region(random, params, sweep=True).entries(params) == min(
        1 << 20, max(regions, key=lambda region: region.size_log2).entries(params)
    )


def test_first_launch_of_all_is_swept(scord_tiny, small, monkeypatch):
    sweeps = []
    launch = FastSim.launch

    def note(self, region, capacity_log2=10, report_filter=False, sweep=False, waiting=()):
        sweeps.append((sweep, region.entries(scord_tiny.params)))
        launch(self, region, capacity_log2, report_filter, sweep, waiting)

    monkeypatch.setattr(FastSim, "launch", note)
    for number in range(2):
        assert not run_case(Case(scord_tiny, 1, number)).difference
    assert sweeps[0] == (True, 1 << 10)
    # Two launches of each case are with the model of cycles.
    assert [sweep for sweep, _ in sweeps] == [True, *[False] * 7]


@pytest.mark.campaign
def test_index_cut_to_22_bits_is_found():
    patch = Patch(
        "gpu/metadata_accessor.py", "window.o_read.p.index)", "window.o_read.p.index[:22])"
    )
    model = build_fast("scord-tiny", find_preset("scord-tiny").params, patch)
    results = _run(model, 500_000)
    found = [result.difference for result in results if result.difference]
    print(f"{sum(result.volume for result in results)} accesses: {found}")
    assert found


def _run(model, accesses):
    results = []
    while not is_enough(accesses, results):
        results.append(run_case(Case(model, 1, len(results))))
    return results


def test_cases_until_enough(scord_tiny, small):
    results = _run(scord_tiny, 1500)
    assert sum(result.volume for result in results) >= 1500
    assert sum(result.volume for result in results[:-1]) < 1500
    for result in results:
        assert result.coverage["launch"] >= 2, result


def test_no_more_cases_after_a_difference(scord_tiny, small, monkeypatch):
    monkeypatch.setattr(FastSim, "step_words", lambda self, bank: _NO_STEPS)
    assert len(_run(scord_tiny, 10**9)) == 1
