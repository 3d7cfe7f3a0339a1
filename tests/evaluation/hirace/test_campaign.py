"""Random tests of HiRace agree, and reach the bins of its coverage."""

from random import Random

import pytest

from racetrap.evaluation.campaign import gpu_volume
from racetrap.evaluation.hirace.campaign import RANDOM_VOLUME, play
from racetrap.generators.presets import find_preset
from racetrap.golden_model.hirace.states import State
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.hirace.coverage import Coverage
from racetrap.sim.cosim.hirace.random_events import STYLES


@pytest.mark.campaign
def test_a_case_of_each_style(monkeypatch):
    monkeypatch.setattr(gpu_volume, "ACCESSES", (3_000, 1_000))
    model = build_fast("hirace-tiny", find_preset("hirace-tiny").params)
    coverage = Coverage(model.params)
    for number in range(len(STYLES)):
        for compared in play(model, number, Random(f"test {number}"), coverage):
            assert [
                name for name in (*RANDOM_VOLUME.figures, "cycles") if not hasattr(compared, name)
            ] == []
            assert 0 < compared.races < compared.accesses
    hit = {name for name, count in coverage.counts.items() if count}
    reached = {name.split(".")[1] for name in hit if name.startswith("transition.")}
    assert reached == {state.name.lower() for state in State if state is not State.RACE}
    assert len(coverage.missed) < len(coverage.to_json()) / 2
    assert {"wraps.barriers", "wraps.warp_barriers", "wraps.generations"} <= hit
    assert {f"{space}.{what}" for space in ("global", "shared") for what in
            ("monitored", "outside")} <= hit  # fmt: skip
