"""A device that does nothing must fail the testbench, and soon."""

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.gpu.memory_plans import fast_memory
from tests.support.scord.plans import random_plan

_MUTE = {
    "transactions never taken": Patch(
        "gpu/launch_control.py",
        "self.i.ready.eq(self.o.ready & ~self.o_closed)",
        "self.i.ready.eq(0)",
    ),
    "steps never shown": Patch(
        "gpu/check_lane.py",
        "connect(m, pipeline.o_step, flipped(self.trace))",
        "pass",
    ),
    "registers never answer": Patch(
        "common/registers.py", "axi.awready.eq(~have_address)", "axi.awready.eq(0)"
    ),
}


# A build each, and the planted bugs show the same.
@pytest.mark.campaign
@pytest.mark.parametrize("name", _MUTE)
def test_mute_device_fails(model, testbench, name):
    built = model("scord-tiny", patch=_MUTE[name])
    result = testbench(
        built, "random_tests", random_plan(built.params, ["mixed"], 100, fast_memory())
    )
    assert len(result.failures) == 1
