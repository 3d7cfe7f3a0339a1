"""A few tiles of a GPU whose others are not there: as the golden model under any delay."""

from dataclasses import replace
from functools import cache

import pytest

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.gpu.tiles import build_tiles
from racetrap.sim.cosim.verilator.patch import Patch

#: More SMs and metadata ports than a few.
_MANY = {
    "scord-tiny": {"sm_count": 6, "banks": 20, "words_per_cycle": 2, "fence_lanes": 2},
    # An epoch, before clocks wrap, takes an answer of each SM.
    "causality-tiny": {"sm_count": 6, "banks": 8, "clock_bits": 12},
}


#: Bugs in whole tiles, which their environment shows: preset and change.
_BUGS = {
    "fence-ends-with-the-first-answer": (
        "scord-tiny", Patch("scord/request_sender.py", "takes & (count == last)", "takes"),
    ),
    "mark-without-the-number-of-its-sm": (
        "scord-tiny", Patch("scord/sm_unit.py", "sender.i_sm.eq(self.i_sm)", "sender.i_sm.eq(0)"),
    ),
}  # fmt: skip


@cache
def _model(preset, bug=None):
    return build_tiles(preset, replace(find_preset(preset).params, **_MANY[preset]), bug)


@pytest.mark.campaign
@pytest.mark.parametrize("preset", _MANY)
def test_tiles_agree_where_others_are_not_there(preset):
    model = _model(preset)
    assert not model.places.are_all
    results = [run_case(Case(model, seed=3, number=number)) for number in range(2)]
    assert [result.difference for result in results] == [""] * 2
    assert min(result.volume for result in results) > 500


@pytest.mark.campaign
@pytest.mark.parametrize("name", _BUGS)
def test_planted_bug_is_found(name):
    model = _model(*_BUGS[name])
    results = (run_case(Case(model, seed=3, number=number)) for number in range(4))
    found = next((result.difference for result in results if result.difference), "")
    assert found
    print(f"{name}: {found}")
