"""Random traffic in the UVM testbench: every step, report, counter and entry compared."""

import pytest

from racetrap.sim.cosim.causality.coverage_bins import FENCE_BINS
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.gpu.memory_plans import fast_memory, hard_memory, random_plan

_CONFIGURATIONS = {
    "tiny": {},
    "one-of-all": {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1, "shared_bytes": 0},
    "odd-lockstep": {
        "sm_count": 3, "blocks_per_sm": 3, "warps_per_sm": 9, "independent_threads": False,
    },
}  # fmt: skip
#: Devices that do nothing, or tell nothing.
_MUTE = {
    "transactions never taken": Patch(
        "gpu/launch_control.py", "self.i.ready.eq(self.o.ready & ~self.o_closed)",
        "self.i.ready.eq(0)",
    ),
    "collector never traced": Patch(
        "causality/system.py", "trace.valid.eq(taken.valid", "trace.valid.eq(0 & taken.valid"
    ),
}  # fmt: skip


@pytest.mark.parametrize("memory", [fast_memory, hard_memory], ids=["fast", "hard"])
@pytest.mark.parametrize("name", later_but(lambda name: name == "tiny", _CONFIGURATIONS))
def test_random_traffic(model, testbench, name, memory):
    built = model("causality-tiny", **_CONFIGURATIONS[name])
    plan = random_plan(built.params, ["mixed", "streaming"], 100, memory())
    result = testbench(built, "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    compared = [note["compared"] for note in result.notes if "launch" in note]
    assert len(compared) == 2
    assert min(compared) > 100
    coverage = next(note["coverage"] for note in result.notes if "coverage" in note)
    waited = [coverage.get(name, 0) > 0 for name in FENCE_BINS]
    assert waited == [True, memory is hard_memory]


@pytest.mark.campaign
@pytest.mark.parametrize("name", _MUTE)
def test_mute_device_fails(model, testbench, name):
    built = model("causality-tiny", patch=_MUTE[name])
    plan = random_plan(built.params, ["mixed"], 100, fast_memory())
    assert len(testbench(built, "random_tests", plan).failures) == 1


def test_registers_are_as_described(model, testbench):
    built = model("causality-tiny")
    plan = random_plan(built.params, [], 0, fast_memory())
    result = testbench(built, "register_tests", plan)
    assert [case.failure for case in result.cases] == [None]
