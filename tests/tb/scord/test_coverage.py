"""Closure of functional coverage by the testbench."""

import pytest

from racetrap.sim.cosim.scord.coverage import Coverage
from racetrap.sim.cosim.scord.coverage_bins import UNREACHABLE
from tests.support.gpu.memory_plans import fast_memory, hard_memory
from tests.support.scord.plans import random_plan

_KNOBS = ["mixed", "contended", "locks", "atomics", "tags", "wraps", "locks"]

#: Weak accesses and atomics to the same words, which no knob preset has in plenty.
_WEAK = {"knobs": "contended", "changes": {"weak": 0.5, "atomics": 0.3}, "instructions": 1500}


@pytest.mark.campaign
@pytest.mark.parametrize("changes", [{}, {"slot_generation_bits": 2}], ids=["tiny", "generations"])
def test_random_testbench_hits_every_bin(model, testbench, changes):
    built = model("scord-tiny", **changes)
    total = Coverage(built.params)
    for memory in (fast_memory(), hard_memory()):
        plan = random_plan(built.params, _KNOBS, 1500, memory)
        plan["launches"].append(_WEAK)
        result = testbench(built, "random_tests", plan)
        assert [case.failure for case in result.cases] == [None]
        for note in result.notes:
            total.merge(note.get("coverage", {}))
    assert total.missed == []
    assert [name for name in UNREACHABLE if total.counts[name]] == []
