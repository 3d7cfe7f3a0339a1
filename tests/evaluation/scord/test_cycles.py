"""Throughput that the design promises, in exact cycles."""

import pytest

from racetrap.evaluation.scord import cycles as bench
from racetrap.golden_model.scord.params import ScordParams

# One process builds each system once; the others find it in the cache.
pytestmark = pytest.mark.xdist_group("bench")


@pytest.mark.campaign
def test_the_smallest_preset_is_as_fast_as_its_queues_let_it():
    assert bench.banks("scord-tiny") > 0.61
    assert bench.back_to_back(preset="scord-tiny") > 0.66
    assert bench.fences(1, 1, "scord-tiny").fences_per_cycle > 0.57
    assert bench.fences(1, 2, "scord-tiny").fences_per_cycle > 0.88


@pytest.mark.campaign
def test_one_access_a_cycle():
    assert bench.streaming() > 0.99
    assert bench.back_to_back() > 0.99


@pytest.mark.campaign
def test_four_banks():
    assert bench.banks("scord-banks4") > 3.8 * bench.banks("scord")


@pytest.mark.campaign
def test_eight_words_a_cycle():
    by_name = {row.traffic: row for row in bench.width(8)}
    assert by_name["one SM, whole lines"].accesses_per_cycle > 7.8
    assert by_name["two SMs, one line"].accesses_per_cycle > 7.8
    assert by_name["one SM, a word of each line"].accesses_per_cycle > 0.95
    fences = "one SM, lines and fences"
    one, four = (by_name[name].accesses_per_cycle for name in (fences, f"{fences} of four warps"))
    assert four > 1.5 * one


@pytest.mark.campaign
@pytest.mark.parametrize(("lanes", "sms"), [(1, 1), (1, 15)])
def test_a_fence_a_cycle_and_lane(lanes, sms):
    assert bench.fences(lanes, sms).fences_per_cycle > 0.95 * lanes


@pytest.mark.campaign
@pytest.mark.parametrize(("latency", "least", "most"), [(1, 0.95, 1), (8, 0.95, 1), (64, 0, 0.5)])
def test_read_data_channel(latency, least, most):
    assert least <= bench.bandwidth(32, latency).busy <= most


@pytest.mark.campaign
@pytest.mark.parametrize(("outstanding", "latency"), [(32, 100), (8, 1), (64, 32), (128, 100)])
def test_what_generate_says_of_a_memory(outstanding, latency):
    """Some more at the start, where the window is filled."""
    rate = ScordParams(outstanding=outstanding).segments_per_cycle(latency)
    assert rate <= bench.bandwidth(outstanding, latency).busy <= 1.2 * rate
    enough = ScordParams.outstanding_for(latency)
    assert bench.bandwidth(enough, latency).busy > 0.99
