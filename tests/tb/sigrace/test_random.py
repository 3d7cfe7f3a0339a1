"""Random events on several configurations: every step, message, trap, register compared."""

import pytest

from racetrap.sim.cosim.sigrace.plans import fast_cores, random_plan
from tests.support.campaign import later_but
from tests.support.sigrace.testbench_configurations import CONFIGURATIONS, SMALL


# The others take a build each, and the RTL's own tests have such systems as well.
@pytest.mark.parametrize("name", later_but(lambda name: name == "small", CONFIGURATIONS))
def test_random_events(model, testbench, name):
    built = model("sigrace-tiny", **CONFIGURATIONS[name])
    plan = random_plan(["mixed", "jumping", "dense"], 600, fast_cores())
    result = testbench(built, "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    runs = [note for note in result.notes if "run" in note]
    assert len(runs) == 3
    assert min(run["events"] for run in runs) > 500
    for run in runs:
        assert run["counters"]["messages"] > 20, run


def test_interrupts_are_answered(model, testbench):
    plan = random_plan(["mixed", "synchronising"], 400, fast_cores())
    result = testbench(model("sigrace-tiny", **SMALL), "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    served = [note["served"] for note in result.notes if "run" in note]
    assert served[0] == 0
    assert served[1] > 2


# Seeds are the shared base's; ScoRD has the same test in `make test`.
@pytest.mark.campaign
def test_same_seed_gives_the_same_run(model, testbench):
    built = model("sigrace-tiny")
    plan = random_plan(["mixed", "moving"], 100, fast_cores())
    first, second = (testbench(built, "random_tests", plan).notes for _ in range(2))
    for notes in (first, second):
        for note in notes:
            note.pop("seconds", None)
    assert first == second
