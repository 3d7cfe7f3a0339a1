"""The testbench must find every planted bug, and nothing in the RTL as it is."""

import pytest

from tests.support.gpu.memory_plans import fast_memory, hard_memory
from tests.support.planted_bugs import one_for_each_file
from tests.support.scord.plans import TWO_BANKS, random_plan
from tests.support.scord.planted_bugs import PLANTED_BUGS

_KNOBS = ["mixed", "locks", "contended", "tags"]
_INSTRUCTIONS = 350
#: Barriers while fences of the block are still on their way.
_BARRIERS = {"knobs": "contended", "changes": {"fences": 0.4, "barriers": 0.4}}

#: Blocks that take the slots of others, so often that their generations wrap.
_BLOCKS = {"knobs": "contended", "changes": {"churn": 0.1}}


def _plan(params, hard, instructions=_INSTRUCTIONS):
    memory = hard_memory() if hard else fast_memory()
    plan = random_plan(params, _KNOBS, instructions, memory)
    for more in (_BARRIERS, _BLOCKS):
        plan["launches"].append({**more, "instructions": 2 * instructions})
    return plan


# Hard memory has random traffic in `make test` without planted bugs.
@pytest.mark.parametrize(
    "hard", [False, pytest.param(True, marks=pytest.mark.campaign)], ids=["fast", "hard"]
)
@pytest.mark.parametrize("module", ["random_tests", "register_tests"])
def test_nothing_is_found_in_the_rtl_as_it_is(model, testbench, module, hard):
    built = model("scord-tiny", **TWO_BANKS)
    result = testbench(built, module, _plan(built.params, hard, 100))
    assert [case.failure for case in result.cases] == [None]


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.patch.file for name, bug in PLANTED_BUGS.items()}, step=50)
)
def test_planted_bug_is_found(model, testbench, name):
    bug = PLANTED_BUGS[name]
    built = model("scord-tiny", patch=bug.patch, **TWO_BANKS)
    result = testbench(built, bug.testbench, _plan(built.params, bug.hard))
    assert len(result.failures) == 1
    print(f"{name}: {result.failures[0].failure}")
