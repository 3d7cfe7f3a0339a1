"""Every rule of a trace with accelerators broken once, in memory; and what is just legal."""

import pytest

from racetrap.golden_model.trace import NoncoherentTrace, Rule, TraceError
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)

_K = OperationKind
_LAST = (1 << 64) - 1

_BREACHES = {
    "kind": (Rule.KIND, "Field kind must be below 14, not 14", Operation(14)),
    "sync-address": (Rule.UNUSED_FIELD, "address must be 0 in sync", Operation(_K.SYNC, 4)),
    "flush-size": (Rule.UNUSED_FIELD, "size must be 0 in flush_all", Operation(_K.FLUSH_ALL, 0, 4)),
    "read-engine": (
        Rule.UNUSED_FIELD, "engine must be 0 in cached_read",
        Operation(_K.CACHED_READ, 0, 4, engine=1),
    ),
    "no-size": (Rule.SIZE, "size must be at least 1, not 0", Operation(_K.DMA_READ, 4)),
    "wraps": (Rule.SIZE, "must end at 0xffffffffffffffff", Operation(_K.CACHED_READ, _LAST, 2)),
    "rows-wrap": (
        Rule.SIZE, "not 257 bytes from",
        Operation(_K.DMA_READ, _LAST - 255, 1, rows=2, stride=256),
    ),
    "one-row": (Rule.ROWS, "0 or at least 2, not 1", Operation(_K.DMA_READ, 0, 4, 1, 4)),
    "no-rows": (Rule.ROWS, "stride must be 0 without rows", Operation(_K.DMA_READ, 0, 4, 0, 8)),
    "stride": (Rule.ROWS, "at least the size 4, not 3", Operation(_K.DMA_READ, 0, 4, 2, 3)),
    "engine": (Rule.ENGINE, "below 2, not 2", Operation(_K.SYNC, engine=2)),
}  # fmt: skip


def _trace(*operations):
    header = NoncoherentTraceHeader(memory=MemorySystem(engines=2))
    return NoncoherentTrace.from_events(header, operations)


@pytest.mark.parametrize("name", _BREACHES)
def test_breach(name):
    rule, words, operation = _BREACHES[name]
    with pytest.raises(TraceError) as caught:
        _trace(Operation(_K.SYNC_ALL), operation)
    assert caught.value.rule == rule
    assert "event 1" in str(caught.value)
    assert words in str(caught.value)


def test_violation_behind_the_first_block_names_its_event(monkeypatch):
    monkeypatch.setattr("racetrap.golden_model.trace.container.event_rules._BLOCK_EVENTS", 2)
    with pytest.raises(TraceError, match="event 3"):
        _trace(*[Operation(_K.SYNC_ALL)] * 3, Operation(_K.SYNC, engine=7))


def test_just_legal():
    operations = (
        Operation(_K.CACHED_READ, _LAST, 1),
        Operation(_K.DMA_WRITE, _LAST - 256, 1, rows=2, stride=256, engine=1),
        Operation(_K.DMA_WRITE, 0, 4, rows=2, stride=4),
        Operation(_K.SYNC, engine=1),
    )
    assert list(_trace(*operations)) == list(operations)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"line_bytes": 24}, "Cache line must be a power of two, not 24"),
        ({"line_bytes": 8192}, "Cache line must be from 1 to 4096, not 8192"),
        ({"line_bytes": 32, "granule_bytes": 64}, "Write-back granule must be from 1 to 32"),
        ({"engines": 65}, "Engines must be from 1 to 64, not 65"),
        ({"prefetch": 2}, "prefetch must be 0 or 1, not 2"),
        ({"write_through": 2}, "write_through must be 0 or 1, not 2"),
    ],
)
def test_memory(fields, words):
    with pytest.raises(ValueError, match=words):
        MemorySystem(**fields)


def test_header():
    with pytest.raises(ValueError, match="Unknown layout 'own': choose host, mixed or target"):
        NoncoherentTraceHeader(layout="own")
    with pytest.raises(ValueError, match="Trace system must be 'noncoherent', not 'scord'"):
        NoncoherentTraceHeader(system="scord")
