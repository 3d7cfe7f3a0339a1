"""Order of kernels and copies: streams, and what comes after what."""

import pytest

from racetrap.golden_model.events import Event, EventKind, Lane
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.operations import Operations

_RANGE = (Lane(0, 0x100, 4),)


def _kernel(stream=0):
    return [Event(EventKind.KERNEL_BEGIN, grid_block=stream), Event(EventKind.KERNEL_END)]


def _copy(stream=0):
    return [Event(EventKind.COPY_READ, lanes=_RANGE, grid_block=stream)]


def _after(operation):
    return [Event(EventKind.AFTER, grid_block=operation)]


@pytest.mark.parametrize(
    ("parts", "ordered", "concurrent"),
    [
        ([_kernel(), _copy(), _kernel()], [(0, 1), (1, 2), (0, 2), (1, 1)], []),
        ([_kernel(1), _copy(2), _kernel(1)], [(0, 2)], [(0, 1), (1, 2)]),
        ([_kernel(1), _after(0), _copy(2), _copy(2)], [(0, 1), (0, 2), (1, 2)], []),
        ([_kernel(1), _kernel(2), _after(1), _after(0), _copy(3)], [(0, 2), (1, 2)], [(0, 1)]),
        # What a named operation comes after, the next one comes after, too.
        ([_kernel(1), _after(0), _kernel(2), _after(1), _kernel(3)], [(0, 2)], []),
        # Only the very next operation.
        ([_kernel(1), _kernel(2), _after(0), _copy(3), _copy(4)], [(0, 2)], [(0, 3), (2, 3)]),
    ],
)
def test_order(header, parts, ordered, concurrent):
    trace = Trace.from_events(header, [event for part in parts for event in part])
    operations = Operations.of(trace.events)
    for pair in ordered:
        assert operations.are_ordered(*pair)
        assert operations.are_ordered(*reversed(pair))
    for pair in concurrent:
        assert not operations.are_ordered(*pair)


def test_rows_are_where_operations_begin(header):
    events = [*_kernel(), *_copy(1), *_after(1), *_kernel(2)]
    assert Operations.of(Trace.from_events(header, events).events).rows.tolist() == [0, 2, 4]
