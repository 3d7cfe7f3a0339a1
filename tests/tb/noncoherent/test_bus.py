"""The AXI4 bus that a monitor observes, with third-party models of a manager and a memory on it."""

import pytest

from racetrap.sim.cosim.noncoherent.coverage import Coverage
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.noncoherent.bus_bench import BUS_BUGS, OBSERVED

_PLAN = {
    "runs": [
        {"bursts": 150, "together": together, "operations": 150, "lines": lines}
        for together, lines in ((1, 8), (4, 4), (8, 64))
    ],
    "busy": 0.5, "longest_idle": 40,
}  # fmt: skip


@pytest.fixture
def observed(model):
    return lambda patch=None: model("noncoherent-tiny", patch, **OBSERVED)


def test_every_burst_of_third_party_models_is_checked(observed, testbench):
    built = observed()
    result = testbench(built, "bus_tests", _PLAN)
    assert [case.failure for case in result.cases] == [None]
    runs = [note for note in result.notes if "run" in note]
    assert [note["bursts"] for note in runs] == [run["bursts"] for run in _PLAN["runs"]]
    coverage = Coverage(built.params)
    for note in result.notes:
        coverage.merge(note.get("coverage", {}))
    assert [name for name in coverage.missed if name.startswith("bus.")] == []


@pytest.mark.parametrize("bug", ["wrap-begins-at-its-address", "read-not-counted"])
@pytest.mark.campaign
def test_a_planted_bug_of_the_listener_is_found(observed, testbench, bug):
    patch = Patch("noncoherent/axi_monitor.py", *BUS_BUGS[bug])
    (case,) = testbench(observed(patch), "bus_tests", _PLAN).cases
    assert case.failure is not None
