"""The tap queue against its model in every cycle, and planted bugs."""

import pytest

from tests.support.noncoherent.taps.benches import queue_differs
from tests.support.noncoherent.taps.system import PARAMS, module_of, tap_bugs
from tests.support.planted_bugs import one_for_each_file
from tests.support.rtl.ready_paths import valid_to_ready_paths

_LANES, _DEPTH = 3, 4
_LAYOUT = PARAMS.monitor.operation_layout
_BUGS = tap_bugs({
    "lane-order-is-turned": (
        "tap_queue", "for lane in reversed(range(self._lanes))", "for lane in range(self._lanes)",
    ),
    "loss-is-one": ("tap_queue", "Mux(is_full, sum(valids), 0)", "Mux(is_full, 1, 0)"),
    "full-queue-is-overwritten": ("tap_queue", "comes & ~is_full", "comes"),
    "group-is-its-first-operation": ("tap_queue", "~(left & (left - 1)).any()", "1"),
    "operations-come-twice": ("tap_queue", "done | (left & -left)", "done"),
})  # fmt: skip


def _differs(bug):
    queue = module_of("tap_queue", bug).TapQueue(PARAMS.monitor, _LANES, _DEPTH)
    return queue_differs(queue, _LANES, _DEPTH)


def test_cycles_are_those_of_the_model():
    differing, lost = _differs(None)
    assert differing == []
    assert lost > 10


@pytest.mark.parametrize("name", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_is_found(name):
    assert _differs(_BUGS[name])[0]


def test_no_path_from_valid_to_ready():
    queue = module_of("tap_queue", None).TapQueue(PARAMS.monitor, _LANES, _DEPTH)
    assert valid_to_ready_paths(queue) == []
