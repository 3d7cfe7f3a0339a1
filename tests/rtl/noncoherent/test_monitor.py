"""The bus monitor's hardware against its model, step by step, and planted bugs."""

import functools
import random

import pytest

from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation, rows_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.sim.cosim.noncoherent.random_bus_operations import random_bus_operations
from tests.support.noncoherent.monitor_bench import PLANTED_BUGS, WRITE_THROUGH_BUG, steps_of
from tests.support.planted_bugs import one_for_each_file

_SMALL = {"entries": 3, "address_bits": 16, "tag_bits": 8, "line_bytes": 8, "granule_bytes": 4}
_PARAMS = NoncoherentParams(engines=2, **_SMALL)
#: Operations lie within the window of the bitmap's second word, before it and behind it.
_BITMAP = NoncoherentParams(
    mode="thesis", window_bytes=128, window_base=64, engines=2,
    **(_SMALL | {"granule_bytes": 2}),
)  # fmt: skip
#: Seen only if a row comes in one certain cycle.
_MERGE_BUG = "row-compared-before-a-merge-is-not-compared-again"
_DROP_BUG = "comparison-sees-what-is-lost"


@functools.cache
def _operations(params, count):
    size = (36 if params.window_bytes else 12) * params.line_bytes
    return random_bus_operations(random.Random(5), params, count, size)


def _due(params, operations):
    rows = [row for operation in operations for row in rows_of(params, operation)]
    return [
        params.step_layout.pack({
            "row": step.row._asdict(), "dma": step.dma._asdict(), "cache": step.cache._asdict(),
            "digest": step.digest,
        })
        for step in Monitor(params).run(rows)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "thesis"},
        {"prefetch": True},
        {"uncached_snoops_cache": True},
        {"write_through": True},
        {"mode": "thesis", "window_bytes": 256},
    ],
    ids=lambda options: list(options)[-1],
)
def test_steps_are_those_of_the_model(options):
    """Other options than those of the preset for tests, with which campaigns run."""
    params = NoncoherentParams(**_SMALL, **options)
    operations = _operations(params, 150)
    assert steps_of(params, operations) == _due(params, operations)


_FILES = {
    name: bug.file
    for name, bug in PLANTED_BUGS.items()
    if name not in (_MERGE_BUG, _DROP_BUG, WRITE_THROUGH_BUG)
}


@pytest.mark.parametrize("name", one_for_each_file(_FILES, step=8))
def test_planted_bugs_are_found(name):
    bug = PLANTED_BUGS[name]
    params = _BITMAP if bug.file == "noncoherent/bitmap.py" else _PARAMS
    operations = _operations(params, 150)
    assert steps_of(params, operations, bug) != _due(params, operations)


@pytest.mark.campaign
def test_planted_bug_of_write_through_is_found():
    params = NoncoherentParams(engines=2, write_through=True, **_SMALL)
    operations = _operations(params, 150)
    bug = PLANTED_BUGS[WRITE_THROUGH_BUG]
    assert steps_of(params, operations, bug) != _due(params, operations)


@pytest.mark.parametrize("params", [_PARAMS, _BITMAP], ids=["interval-cams", "bitmap"])
def test_without_a_bug(params):
    operations = _operations(params, 150)
    assert steps_of(params, operations) == _due(params, operations)


def _differs_while_a_set_merges(bug):
    """Whether a row that comes while two entries merge, in each cycle of it, differs from the
    model's."""
    params = NoncoherentParams(mode="thesis", **_SMALL)
    a_round = [
        *(BusOperation(OperationKind.DMA_WRITE, 0, first, 2) for first in (0, 6, 64)),
        BusOperation(OperationKind.UNCACHED_READ, 0, 3, 1),
        BusOperation(OperationKind.SYNC),
    ]
    cycles = range(24)
    due = _due(params, a_round * len(cycles))
    assert params.step_layout.unpack(due[3])["dma"]["found"]
    idle = iter([wait for count in cycles for wait in (30, 0, 0, count, 30)]).__next__
    return steps_of(params, a_round * len(cycles), bug, idle=idle) != due


def test_a_row_comes_while_a_set_merges():
    assert not _differs_while_a_set_merges(None)


def test_a_row_compared_before_a_merge_is_compared_again():
    assert _differs_while_a_set_merges(PLANTED_BUGS[_MERGE_BUG])


def _differs_with_a_flush_behind(bug):
    """Whether a write that has to look at stale bytes again differs from the model's if the row
    after the next cuts them."""
    params = NoncoherentParams(**_SMALL)
    kind = OperationKind
    operations = [
        BusOperation(kind.CACHED_READ, 0, 0, 16),
        BusOperation(kind.UNCACHED_WRITE, 0, 0, 12),
        BusOperation(kind.CACHED_WRITE, 0, 2, 2),
        BusOperation(kind.UNCACHED_READ, 0, 64, 1),
        BusOperation(kind.CACHE_FLUSH, 0, 0, 4),
    ]
    due = _due(params, operations)
    assert params.step_layout.unpack(due[2])["cache"]["found"]
    idle = iter([0, 30, 30, 0, 0]).__next__
    return steps_of(params, operations, bug, idle=idle) != due


def test_a_row_is_not_compared_with_what_starts_anew_behind_it():
    assert not _differs_with_a_flush_behind(None)
    assert _differs_with_a_flush_behind(PLANTED_BUGS[_DROP_BUG])
