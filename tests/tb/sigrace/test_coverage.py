"""Closure of functional coverage by the testbenches."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.sigrace.coverage_bins import BINS, UNREACHABLE
from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.plans import random_plan, slow_software
from racetrap.sim.cosim.verilator.cocotb_build import build
from tests.support.sigrace.testbench_configurations import CONFIGURATIONS, RDM

_PARAMS = find_preset("sigrace-tiny").params


@pytest.mark.campaign
def test_benches_hit_every_bin(model, testbench):
    total = BinCounts(BINS, UNREACHABLE)

    def play(built, module, plan):
        result = testbench(built, module, plan)
        assert [case.failure for case in result.cases] == [None]
        for note in result.notes:
            total.merge(note.get("coverage", {}))

    for changes in CONFIGURATIONS.values():
        built = model("sigrace-tiny", **changes)
        play(built, "random_tests", random_plan(list(KNOBS), 400, slow_software()))
        play(built, "corner_tests", slow_software())
    play(model("sigrace-tiny"), "register_tests", {})
    rdm = build("sigrace-tiny", replace(_PARAMS, **RDM), part="rdm")
    play(rdm, "message_tests", {})
    assert total.missed == []
    assert [name for name in UNREACHABLE if total.counts[name]] == []
