"""Promises of the bus monitor, on short traces."""

import pytest

from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import (
    BusOperation,
    bus_operation,
    is_empty,
    rows_of,
    rules_of,
)
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import (
    RANGE_KINDS,
    Operation,
    OperationKind,
)

K = OperationKind
_PARAMS = NoncoherentParams(engines=2, entries=4)


def _found(*operations, params=_PARAMS):
    """Rules of each operation, with whether they are definite and the tag of the earlier one."""
    monitor = Monitor(params)
    rows = [row for one in operations for row in rows_of(params, one)]
    return [
        (step.row.tag, rule.value, hit.definite, hit.tag)
        for step in monitor.run(rows)
        for rule, hit in rules_of(step)
    ]


def _word(kind, tag, address=0, engine=0):
    return BusOperation(kind, engine, address, 4, tag=tag)


@pytest.mark.parametrize(
    ("earlier", "later", "rule"),
    [
        (K.CACHED_WRITE, K.UNCACHED_READ, "1b"),
        (K.DMA_WRITE, K.UNCACHED_READ, "1c"),
        (K.CACHED_WRITE, K.UNCACHED_WRITE, "2b"),
        (K.DMA_READ, K.UNCACHED_WRITE, "2c"),
        (K.DMA_WRITE, K.CACHED_READ, "3j"),
        (K.DMA_READ, K.CACHED_WRITE, "4g"),
        (K.CACHED_WRITE, K.DMA_READ, "5b"),
        (K.CACHED_WRITE, K.DMA_WRITE, "6b"),
    ],
)
@pytest.mark.parametrize("mode", ["strict", "thesis"])
def test_each_pair_and_its_cure(mode, earlier, later, rule):
    params = NoncoherentParams(mode=mode, entries=4)
    first, last = _word(earlier, 1), _word(later, 3)
    assert _found(first, last, params=params) == [(3, rule, 1, 1)]
    cures = (BusOperation(K.FLUSH_ALL, tag=2), BusOperation(K.SYNC, tag=2))
    assert _found(first, *cures, last, params=params) == []


def test_engines_and_their_syncs():
    write, other = _word(K.DMA_WRITE, 1, engine=0), _word(K.DMA_WRITE, 3, engine=1)
    assert _found(write, other) == [(3, "two-engines", 1, 1)]
    assert _found(write, BusOperation(K.SYNC, 1, tag=2), other) == [(3, "two-engines", 1, 1)]
    assert _found(write, BusOperation(K.SYNC, 0, tag=2), other) == []


def test_rows_are_checked_one_by_one():
    rows = BusOperation(K.DMA_WRITE, 0, 0, 4, 3, 16, 1)
    assert [(row.first, row.end) for row in rows_of(_PARAMS, rows)] == [(0, 4), (16, 20), (32, 36)]
    between, on = _word(K.UNCACHED_READ, 2, 4), _word(K.UNCACHED_READ, 3, 32)
    assert _found(rows, between, on) == [(3, "1c", 1, 1)]


@pytest.mark.parametrize("kind", sorted(RANGE_KINDS))
@pytest.mark.parametrize("mode", ["strict", "thesis"])
@pytest.mark.parametrize("rows", [0, 3])
def test_a_range_of_no_bytes_meets_nothing_and_leaves_nothing(kind, mode, rows):
    """In the middle of dirty bytes, and under DMA of every engine."""
    params = NoncoherentParams(mode=mode, engines=2, entries=4)
    before = [
        BusOperation(K.CACHED_WRITE, 0, 0, 64, tag=1), BusOperation(K.DMA_READ, 0, 64, 64, tag=2),
        BusOperation(K.DMA_WRITE, 1, 128, 64, tag=3),
    ]  # fmt: skip
    for place in (32, 96, 160):
        empty = BusOperation(kind, 0, place, 0, rows, 64, 4)
        assert is_empty(empty)
        assert _found(*before, empty, params=params) == []
        assert list(rows_of(params, empty)) == []
    assert not is_empty(BusOperation(K.SYNC, 0))


def test_a_full_set_reports_what_may_be():
    writes = [_word(K.DMA_WRITE, 1 + n, 100 * n) for n in range(4)]
    assert _found(*writes, _word(K.UNCACHED_READ, 9, 50)) == [(9, "1c", 0, 1)]
    assert _found(*writes[:3], _word(K.UNCACHED_READ, 9, 50)) == []


def test_operations_of_a_trace():
    strided = Operation(K.DMA_READ, 0x100, 8, 2, 32, 1)
    assert bus_operation(_PARAMS, 5, strided) == BusOperation(K.DMA_READ, 1, 0x100, 8, 2, 32, 5)
    joined = Operation(K.DMA_READ, 0x100, 8, 4, 8, 1)
    assert bus_operation(_PARAMS, 5, joined) == BusOperation(K.DMA_READ, 1, 0x100, 32, 0, 0, 5)
    with pytest.raises(ValueError, match=r"address_bits must be at least 33 .* not 32"):
        bus_operation(_PARAMS, 0, Operation(K.CACHED_READ, (1 << 32) - 2, 4))
