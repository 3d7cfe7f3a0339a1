"""Random traffic in the UVM testbench: every step, report, counter and entry compared."""

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.gpu.memory_plans import fast_memory, hard_memory, random_plan
from tests.support.hirace.planted_bugs import PLANTED_BUGS

_CONFIGURATIONS = {
    "tiny": {},
    "one-of-all": {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1, "shared_bytes": 0},
    "odd-banks4": {"sm_count": 3, "blocks_per_sm": 3, "warps_per_sm": 9, "banks": 4},
    "once-apart": {"begin_anew": False, "merge_in_flight": False},
}
_LATER = {"one-of-all", "odd-banks4", "once-apart"}
#: Devices that do nothing.
_MUTE = {
    "transactions never taken": Patch(
        "gpu/launch_control.py", "self.i.ready.eq(self.o.ready & ~self.o_closed)",
        "self.i.ready.eq(0)",
    ),
    "steps never shown": Patch(
        "gpu/check_lane.py", "connect(m, pipeline.o_step, flipped(self.trace))", "pass"
    ),
}  # fmt: skip


# The third party's memory is a fast one.
@pytest.mark.parametrize(
    "memory",
    [pytest.param(fast_memory, marks=pytest.mark.campaign), hard_memory],
    ids=["fast", "hard"],
)
@pytest.mark.parametrize(
    "name",
    later_but(lambda name: name not in _LATER, _CONFIGURATIONS),
)
def test_random_traffic(model, testbench, name, memory):
    built = model("hirace-tiny", **_CONFIGURATIONS[name])
    plan = random_plan(built.params, ["mixed", "streaming"], 200, memory())
    result = testbench(built, "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    compared = [note["compared"] for note in result.notes if "launch" in note]
    assert len(compared) == 2
    assert min(compared) > 100


def test_third_party_memory_agrees(model, testbench):
    built = model("hirace-tiny")
    plan = random_plan(built.params, ["mixed", "atomics"], 200, {"axi_ram": True})
    result = testbench(built, "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]


# In `make test` the fast co-simulation, with the same scoreboard, has one of these bugs.
@pytest.mark.campaign
@pytest.mark.parametrize(
    "name",
    [
        "result-just-ahead-not-taken", "report-of-the-entry-after", "races-not-counted",
        "counts-survive-a-launch", "lost-reports-not-counted",
    ],
)  # fmt: skip
def test_planted_bug_is_found(model, testbench, name):
    built = model("hirace-tiny", patch=PLANTED_BUGS[name])
    plan = random_plan(built.params, ["mixed", "atomics", "warp"], 300, fast_memory())
    assert len(testbench(built, "random_tests", plan).failures) == 1


@pytest.mark.campaign
@pytest.mark.parametrize("name", _MUTE)
def test_mute_device_fails(model, testbench, name):
    built = model("hirace-tiny", patch=_MUTE[name])
    plan = random_plan(built.params, ["mixed"], 100, fast_memory())
    assert len(testbench(built, "random_tests", plan).failures) == 1


def test_registers_are_as_described(model, testbench):
    built = model("hirace-tiny")
    plan = random_plan(built.params, [], 0, fast_memory())
    result = testbench(built, "register_tests", plan)
    assert [case.failure for case in result.cases] == [None]
