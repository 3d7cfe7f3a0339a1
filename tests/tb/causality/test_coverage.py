"""Closure of causality's functional coverage by the testbench."""

import pytest

from racetrap.sim.cosim.causality.coverage import Coverage
from racetrap.sim.cosim.causality.coverage_bins import UNREACHABLE
from racetrap.sim.cosim.causality.styles import STYLES
from tests.support.gpu.memory_plans import fast_memory, hard_memory, random_plan

#: Enough warp barriers in one launch that the numbers of epochs restart.
_LONG = {"style": "lanes", "instructions": 900}


@pytest.mark.campaign
def test_random_testbench_hits_every_bin(model, testbench):
    built = model("causality-tiny")
    total = Coverage(built.params)
    for memory in (fast_memory(), hard_memory()):
        plan = random_plan(built.params, list(STYLES), 300, memory)
        plan["launches"].append(_LONG)
        result = testbench(built, "random_tests", plan)
        assert [case.failure for case in result.cases] == [None]
        for note in result.notes:
            total.merge(note.get("coverage", {}))
    assert total.missed == []
    assert [name for name in UNREACHABLE if total.counts[name]] == []
