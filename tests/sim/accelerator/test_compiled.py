"""The compiled detector against the Python version."""

import random

import numpy as np
import pytest

from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)
from racetrap.sim.accelerator.compiled import detector as compiled
from racetrap.sim.accelerator.random_operations import random_memory, random_operations
from tests.support.noncoherent.plain.plain import plain_first, plain_races


def _both(detector, operations):
    header = NoncoherentTraceHeader(memory=detector.memory)
    trace = NoncoherentTrace.from_events(header, operations)
    found = compiled.run_compiled(detector, trace.events)
    assert found.first == plain_first(detector, operations)
    return found.races, plain_races(detector, operations)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pcs", [0, 3])
def test_random_traces(mode, pcs):
    races = 0
    for number in range(60):
        generator = random.Random(f"compiled-{number}")
        memory = random_memory(generator)
        length, size = generator.choice(((10, 12), (60, 64), (400, 4000)))
        operations = random_operations(generator, memory, length, size, pcs)
        fast, plain = _both(Noncoherent(memory, mode), operations)
        assert fast == plain, number
        races += len(fast)
    assert races > 100


def test_blocks_of_a_long_trace(monkeypatch):
    monkeypatch.setattr(compiled, "_BLOCK", 7)
    generator = random.Random("blocks")
    memory = MemorySystem(line_bytes=16, granule_bytes=8, engines=2)
    fast, plain = _both(Noncoherent(memory), random_operations(generator, memory, 100, 256, pcs=2))
    assert fast == plain != []


def test_many_runs():
    """More than fit in a chunk of the compiled set, added and taken out in any order."""
    words = np.random.default_rng(3).permutation(3000).tolist()
    kinds = OperationKind
    operations = [Operation(kinds.CACHED_WRITE, 64 * word, 4) for word in words]
    operations += [Operation(kinds.CACHE_CLEAN, 64 * word, 1) for word in words[::2]]
    operations.append(Operation(kinds.DMA_READ, 0, 64 * 3000))
    fast, plain = _both(Noncoherent(MemorySystem()), operations)
    assert fast == plain
    assert len(fast) == 1500


def test_addresses_up_to_the_last():
    operations = [
        Operation(OperationKind.CACHED_WRITE, (1 << 64) - 4, 4),
        Operation(OperationKind.DMA_READ, (1 << 64) - 8, 8),
    ]
    fast, plain = _both(Noncoherent(MemorySystem()), operations)
    assert fast == plain
    assert fast[0].last == (1 << 64) - 1


def test_memory_grows_with_live_runs_only():
    kinds = OperationKind
    operations = []
    for address in range(0, 64 * 5000, 64):
        operations.append(Operation(kinds.CACHED_WRITE, address, 4))
        operations.append(Operation(kinds.CACHE_FLUSH, address, 4))
    trace = NoncoherentTrace.from_events(NoncoherentTraceHeader(), operations)
    assert compiled.run_compiled(Noncoherent(MemorySystem()), trace.events).most_runs < 10
