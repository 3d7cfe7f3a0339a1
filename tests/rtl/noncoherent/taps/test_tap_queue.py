"""The tap queue against its model in every cycle, and planted bugs."""

from random import Random

import pytest
from amaranth.hdl import Value

from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.taps.tap_queue import TapQueue
from tests.support.noncoherent.taps.system import PARAMS, module_of, tap_bugs
from tests.support.planted_bugs import one_for_each_file
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import simulate

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
    """Number of the first cycle in which hardware and model differ; and operations lost."""
    random, model, differing = Random(9), TapQueue(_DEPTH), []
    dut = module_of("tap_queue", bug).TapQueue(PARAMS.monitor, _LANES, _DEPTH)

    async def play(ctx):
        for cycle in range(600):
            busy = random.random() < (0.9 if cycle // 100 % 2 else 0.3)
            valids = [int(busy and random.random() < 0.5) for _ in range(_LANES)]
            group = [
                BusOperation(1, 0, random.getrandbits(32), 4, tag=cycle) if valid else None
                for valid in valids
            ]
            for lane, operation in enumerate(group):
                word = 0 if operation is None else 1 | _LAYOUT.pack(operation._asdict()) << 1
                ctx.set(Value.cast(dut.i_lanes[lane]), word)
            ctx.set(dut.o.ready, ready := int(random.random() < 0.6))
            *_, valid, word, lost = await ctx.tick().sample(
                dut.o.valid, Value.cast(dut.o.payload), dut.o_lost
            )
            offered, before = model.first, model.lost
            due = None if offered is None else _LAYOUT.pack(offered._asdict())
            model.step([one for one in group if one], bool(offered and ready))
            if (due, model.lost - before) != (word if valid else None, lost):
                differing.append(cycle)
                return

    simulate(dut, play)
    return differing, model.lost


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
