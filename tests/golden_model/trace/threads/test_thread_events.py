"""Epoch steps of each kind of event, and what a header must be."""

import pytest

from racetrap.golden_model.trace.threads.events import (
    MAX_THREADS,
    MemoryOrder,
    SyncClass,
    ThreadEventKind,
    ThreadTraceHeader,
    epoch_steps,
)

_K, _O = ThreadEventKind, MemoryOrder
_ONE = {
    _K.ACQUIRE, _K.RELEASE, _K.BARRIER_ARRIVE, _K.BARRIER_LEAVE, _K.CREATE, _K.BEGIN, _K.END,
    _K.JOIN,
}  # fmt: skip
_ATOMIC = {
    _K.ATOMIC_LOAD: {_O.RELAXED: 0, _O.ACQUIRE: 1, _O.RELEASE: 0, _O.ACQ_REL: 1},
    _K.ATOMIC_STORE: {_O.RELAXED: 0, _O.ACQUIRE: 0, _O.RELEASE: 1, _O.ACQ_REL: 1},
    _K.ATOMIC_UPDATE: {_O.RELAXED: 0, _O.ACQUIRE: 1, _O.RELEASE: 1, _O.ACQ_REL: 2},
}


@pytest.mark.parametrize("kind", ThreadEventKind)
def test_epoch_steps(kind):
    if kind in _ATOMIC:
        assert {order: epoch_steps(kind, order) for order in _O} == _ATOMIC[kind]
        return
    for value in (0, *SyncClass, 7):
        assert epoch_steps(kind, value) == (kind in _ONE)
    assert epoch_steps(kind, 0, 0) == (kind in _ONE - {_K.BEGIN})


@pytest.mark.parametrize("threads", [1, MAX_THREADS])
def test_header(threads):
    assert ThreadTraceHeader(threads=threads, seed=0).threads == threads


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"threads": 0}, ValueError, "Trace threads must be from 1 to 1024, not 0"),
        ({"threads": MAX_THREADS + 1}, ValueError, "not 1025"),
        ({"threads": 1.0}, TypeError, "Trace threads must be an integer, not 1.0"),
        ({"system": "scord"}, ValueError, "Trace system must be 'sigrace', not 'scord'"),
        ({"source": 3}, TypeError, "Trace source must be a string, not 3"),
        ({"source": "\n"}, ValueError, "Trace source must be printable characters"),
        ({"seed": 1 << 64}, ValueError, "Trace seed must be from 0"),
        ({"locations": {-1: "a.c:1"}}, ValueError, "PC of a location must be from 0"),
        ({"locations": {1: "\t"}}, ValueError, "Location of pc 0x1 must be printable"),
    ],
)
def test_header_errors(fields, error, words):
    with pytest.raises(error, match=words):
        ThreadTraceHeader(**({"threads": 4} | fields))
