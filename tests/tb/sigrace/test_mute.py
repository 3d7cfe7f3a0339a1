"""A device that does nothing must fail the testbench, and soon."""

import pytest

from racetrap.sim.cosim.sigrace.plans import fast_cores, random_plan
from racetrap.sim.cosim.verilator.patch import Patch

_MUTE = {
    "steps never shown": Patch(
        "sigrace/rdm_controller.py",
        "self._elaborate_steps(m, is_check, search)",
        "self._digest(m)",
    ),
}


# A build each, and the planted bugs show the same.
@pytest.mark.campaign
@pytest.mark.parametrize("name", _MUTE)
def test_mute_device_fails(model, testbench, name):
    built = model("sigrace-tiny", patch=_MUTE[name], lsb_bits=6, filters=4, filter_bits=16)
    result = testbench(built, "random_tests", random_plan(["mixed"], 100, fast_cores()))
    assert len(result.failures) == 1
