"""Random operations on the bus monitor in the cocotb testbench, and bugs that it must find."""

import pytest

from racetrap.sim.cosim.verilator.build_cache import Patch
from tests.support.noncoherent.monitor_bench import PLANTED_BUGS

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
#: Slips outside the parts that the bench of the monitor alone has.
_SYSTEM_BUGS = {
    "queue-drops-uncounted": Patch(
        "noncoherent/report_path.py", "(report.valid & ~queue.i.ready) + writer.o_dropped",
        "writer.o_dropped",
    ),
    "mute": Patch(
        "noncoherent/monitor.py", "self.trace.valid.eq(is_finished)", "self.trace.valid.eq(0)"
    ),
    "possible-counts-as-definite": Patch(
        "noncoherent/system.py", "report.valid & hit.definite", "report.valid & hit.found"
    ),
    "interrupt-is-not-masked": Patch(
        "noncoherent/system.py", "(report_path.o_head != tail)", "1"
    ),
    "clear-leaves-entries": Patch(
        "noncoherent/monitor.py", "m.d.comb += cam.i_clear.eq(1)\n                m.d.sync",
        "m.d.comb += cam.i_clear.eq(0)\n                m.d.sync",
    ),
}  # fmt: skip
_BUGS = _SYSTEM_BUGS | {
    name: Patch(f"noncoherent/{bug.file}", bug.before, bug.after)
    for name, bug in PLANTED_BUGS.items()
}


@pytest.mark.parametrize("plan", [_FAST, _SLOW], ids=["fast", "slow"])
def test_nothing_is_found_in_the_rtl_as_it_is(model, testbench, plan):
    result = testbench(model("noncoherent-tiny"), "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    runs = [note for note in result.notes if "run" in note]
    assert [bool(note["compared"]) for note in runs] == [
        run.get("enable", True) for run in plan["runs"]
    ]
    if plan is _SLOW:
        assert sum(note["counters"]["reports_dropped"] for note in runs)


@pytest.mark.campaign
@pytest.mark.parametrize("name", _BUGS)
def test_planted_bug_is_found(model, testbench, name):
    built = model("noncoherent-tiny", patch=_BUGS[name])
    failures = [
        failure for plan in (_FAST, _SLOW)
        for failure in testbench(built, "random_tests", plan).failures
    ]  # fmt: skip
    assert failures
