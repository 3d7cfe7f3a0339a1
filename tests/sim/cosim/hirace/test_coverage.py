"""Bins of HiRace's functional coverage: what each instance has, and what is hit."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.lane_splitter import split_lanes
from racetrap.golden_model.hirace.states import State
from racetrap.golden_model.hirace.tracker import Tracker
from racetrap.sim.cosim.hirace.coverage import Coverage
from racetrap.sim.cosim.hirace.coverage_bins import BINS, OPTIONAL_BINS
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events

_PARAMS = find_preset("hirace-tiny").params
_REGION = Region(0, 12)


def _covered(params, style):
    """Coverage of a run on the golden model."""
    coverage, hirace = Coverage(params), Hirace(params, _REGION)
    trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
    for event in random_events(params, _REGION, STYLES[style], 1, 2_000):
        for transaction in split_lanes(event, params):
            coverage.transaction(event.sm, transaction, trackers[event.sm])
            trackers[event.sm].step(transaction)
        for step in hirace.run(event):
            coverage.step(0, step)
    return coverage


def test_bins_of_the_state_race_are_of_an_instance_that_keeps_it():
    assert not BINS.keys() & OPTIONAL_BINS.keys()
    assert len(OPTIONAL_BINS) == 48
    kept = _covered(replace(_PARAMS, begin_anew=False), "mixed")
    assert kept.counts.keys() & OPTIONAL_BINS.keys()
    assert not _covered(_PARAMS, "mixed").counts.keys() & OPTIONAL_BINS.keys()


def test_every_state_has_its_transitions():
    names = [name for name in (*BINS, *OPTIONAL_BINS) if name.startswith("transition.")]
    assert len(names) == (len(State) - 1) * 48 + 4


def test_window_is_not_asked_for_where_there_is_none():
    coverage = _covered(replace(_PARAMS, shared_bytes=0), "mixed")
    assert "shared.monitored" not in coverage.missed
    assert "shared.monitored" not in coverage.counts


@pytest.mark.parametrize(
    ("style", "states"),
    [
        ("warp", {"wread", "wsync", "mr_wsync", "wsync_atom", "wsync_atom_m"}),
        ("block", {"bread", "bsync", "b_mr_bsync", "w_mr_bwsync"}),
        ("atomics", {"batom", "batom_w", "batom_b", "gatom", "gatom_w", "gatom_b", "gatom_g"}),
        ("atomics-of-a-block", {"bsync_atom", "bsync_atom_b"}),
    ],
)
def test_a_style_reaches_the_states_that_it_is_for(style, states):
    reached = {
        name.split(".")[1] for name in _covered(_PARAMS, style).counts if "transition" in name
    }
    assert states <= reached
