"""The testbench must find every planted bug, and nothing in the RTL as it is."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.sigrace.plans import random_plan, slow_software
from racetrap.sim.cosim.verilator.cocotb_build import build
from tests.support.campaign import later_but
from tests.support.planted_bugs import one_for_each_file
from tests.support.sigrace.planted_bugs import PLANTED_BUGS
from tests.support.sigrace.testbench_configurations import SMALL

_PLAN = random_plan(["mixed", "synchronising", "moving", "scattered"], 250, slow_software())
_MODULES = sorted({(bug.testbench, bug.part) for bug in PLANTED_BUGS.values()})


def _build(part, patch=None):
    params = replace(find_preset("sigrace-tiny").params, **SMALL)
    return build("sigrace-tiny", params, patch=patch, part=part)


# The Race Detection Module alone is a build of its own; Amaranth's simulator has it in `make test`.
@pytest.mark.parametrize(("module", "part"), later_but(lambda each: not each[1], _MODULES))
def test_nothing_is_found_in_the_rtl_as_it_is(testbench, module, part):
    result = testbench(_build(part), module, _PLAN)
    assert [case.failure for case in result.cases] == [None]


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.patch.file for name, bug in PLANTED_BUGS.items()}, step=20)
)
def test_planted_bug_is_found(testbench, name):
    bug = PLANTED_BUGS[name]
    result = testbench(_build(bug.part, bug.patch), bug.testbench, _PLAN)
    assert len(result.failures) == 1
    print(f"{name}: {result.failures[0].failure}")
