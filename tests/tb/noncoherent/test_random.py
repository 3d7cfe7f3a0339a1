"""Random operations on the bus monitor in the cocotb testbench."""

import pytest

from tests.support.noncoherent.bus_bench import OBSERVED

#: From a bus that never rests and memory that answers at once to slow ones, with a small ring.
_FAST = {"runs": [{"operations": 120, "lines": lines} for lines in (2, 8, 64)], "ring_log2": 10}
_SLOW = {
    "runs": [
        {"operations": 90, "lines": 4}, {"operations": 20, "lines": 4, "enable": False},
        {"operations": 90, "lines": 16},
    ],
    "ring_log2": 2, "busy": 0.6, "longest_idle": 20,
    "report_memory": {"latency": 20, "jitter": 20, "ready": 0.5, "write_errors": 0.2},
}  # fmt: skip


@pytest.mark.parametrize(
    "plan", [_FAST, pytest.param(_SLOW, marks=pytest.mark.campaign)], ids=["fast", "slow"]
)
def test_nothing_is_found_in_the_rtl_as_it_is(model, testbench, plan):
    result = testbench(model("noncoherent-tiny", **OBSERVED), "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    runs = [note for note in result.notes if "run" in note]
    assert [bool(note["compared"]) for note in runs] == [
        run.get("enable", True) for run in plan["runs"]
    ]
    if plan is _SLOW:
        assert sum(note["counters"]["reports_dropped"] for note in runs)
