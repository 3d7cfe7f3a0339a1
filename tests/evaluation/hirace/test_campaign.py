"""Random tests of HiRace agree, and reach the bins of its coverage."""

from random import Random

import pytest

from racetrap.evaluation.campaign import gpu_volume
from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.hirace.campaign import RANDOM_VOLUME, play
from racetrap.generators.presets import find_preset
from racetrap.golden_model.hirace.states import State
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.hirace.coverage import Coverage
from racetrap.sim.cosim.hirace.random_events import STYLES
from racetrap.sim.cosim.verilator.patch import Patch


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


#: Bugs that only a launch or a reset amid transactions, a large region or a counter's upper bits
#: show.
_BUGS = {
    "a launch does not wait": Patch(
        "gpu/launch_control.py", "may_take = self.i_idle & ~self.i_written",
        "may_take = ~self.i_written",
    ),
    "positions outlive a reset": Patch(
        "gpu/hazard_window.py", "Signal(slot_bits(self._params) + 1, name=name)",
        "Signal(slot_bits(self._params) + 1, name=name, reset_less=True)",
    ),
    "the sweep's index has 18 bits": Patch(
        "gpu/init_engine.py", "following.eq(index + (1 << low))",
        "following.eq((index + (1 << low))[:18])",
    ),
    "counters have 20 bits": Patch(
        "common/registers.py", "total.eq(value + port.increment)",
        "total.eq(value[20:] << 20 | (value[:20] + port.increment)[:20])",
    ),
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("bug", _BUGS)
def test_planted_bug_is_found(bug):
    model = build_fast("hirace-tiny", find_preset("hirace-tiny").params, _BUGS[bug])
    results = [run_case(Case(model, 1, number)) for number in range(6)]
    assert [result.difference for result in results if result.difference]
