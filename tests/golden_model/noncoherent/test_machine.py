"""The exhaustive machine by its definition, and mode strict against it."""

import random

import pytest

from racetrap.golden_model.noncoherent.machine import ExhaustiveMachine, MachineLimitError
from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.oracle import OracleLimitError, racy_bytes
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    Operation,
    OperationKind,
)
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.random_operations import random_memory, random_operations
from tests.support.noncoherent.plain.strict import Strict

K = OperationKind
_BYTE = MemorySystem(line_bytes=1, granule_bytes=1)


def _first_racy(memory, operations, addresses):
    machine = ExhaustiveMachine(memory, addresses)
    racy = (number for number, one in enumerate(operations) if machine.step(one))
    return next(racy, None)


@pytest.mark.parametrize(
    ("kinds", "first"),
    [
        ([K.CACHED_WRITE, K.CACHED_READ], None),
        ([K.CACHED_WRITE, K.UNCACHED_READ], 1),
        ([K.CACHED_WRITE, K.CACHE_CLEAN, K.UNCACHED_READ], None),
        ([K.CACHED_WRITE, K.CACHE_INVALIDATE], 1),
        ([K.DMA_WRITE, K.UNCACHED_READ], 1),
        ([K.DMA_WRITE, K.SYNC, K.UNCACHED_READ], None),
        ([K.DMA_READ, K.UNCACHED_READ], None),
        ([K.DMA_WRITE, K.DMA_WRITE, K.SYNC], None),
        ([K.CACHED_READ, K.UNCACHED_WRITE, K.UNCACHED_READ], None),
        ([K.CACHED_READ, K.UNCACHED_WRITE, K.CACHED_READ], 2),
        ([K.CACHED_READ, K.DMA_WRITE, K.SYNC, K.FLUSH_ALL, K.CACHED_READ], None),
    ],
)
def test_one_byte(kinds, first):
    ranged = (K.SYNC, K.FLUSH_ALL)
    operations = [Operation(kind) if kind in ranged else Operation(kind, 0, 1) for kind in kinds]
    assert _first_racy(_BYTE, operations, [0]) == first
    assert run_compiled(Noncoherent(_BYTE), operations).first == first


def test_write_back_takes_the_whole_granule():
    operations = [Operation(K.CACHED_WRITE, 0, 1), Operation(K.UNCACHED_WRITE, 1, 1)]
    assert _first_racy(MemorySystem(line_bytes=2, granule_bytes=2), operations, [0, 1]) == 1
    assert _first_racy(MemorySystem(line_bytes=2, granule_bytes=1), operations, [0, 1]) is None


def test_limit():
    machine = ExhaustiveMachine(MemorySystem(line_bytes=4, granule_bytes=1), range(8), 10)
    machine.step(Operation(K.CACHED_WRITE, 0, 1))
    with pytest.raises(MachineLimitError, match="more than 10 states"):
        machine.step(Operation(K.CACHED_WRITE, 0, 8))


def _random_cases(name, count, lines=2, operations=8):
    for number in range(count):
        generator = random.Random(f"{name}-{number}")
        memory = random_memory(generator)
        length = generator.randint(1, operations)
        yield memory, random_operations(generator, memory, length, lines * memory.line_bytes)


def test_one_machine_for_each_byte_is_exact():
    """Against one machine that follows all bytes at once."""
    for memory, operations in _random_cases("bytes", 60, lines=1, operations=5):
        racy = racy_bytes(memory, operations)
        due = racy[0].operation if racy else None
        assert _first_racy(memory, operations, range(memory.line_bytes)) == due


def test_first_racy_operation_is_that_of_mode_strict():
    racy = 0
    for memory, operations in _random_cases("strict", 400, lines=3, operations=10):
        found = racy_bytes(memory, operations)
        due = found[0].operation if found else None
        assert run_compiled(Noncoherent(memory), operations).first == due, operations
        racy += due is not None
    assert racy > 100


def _without(name):
    """Mode strict with a step that does nothing."""
    return type("Planted", (Strict,), {name: lambda self, *arguments: []})


@pytest.mark.parametrize(
    "name",
    [
        "_make_stale",
        "_make_dirty",
        "_with_other_engines",
        "_clean",
        "_sync",
        "_fill",
    ],
)
def test_planted_bugs_are_found(name):
    planted = _without(name)

    def differs(memory, operations):
        found, rules = racy_bytes(memory, operations), planted(memory)
        steps = (number for number, one in enumerate(operations) if rules.step(number, one))
        return next(steps, None) != (found[0].operation if found else None)

    cases = _random_cases("planted", 300, operations=10)
    assert any(differs(*case) for case in cases), "300 cases do not differ"


def test_bytes_that_race():
    operations = [
        Operation(K.CACHED_WRITE, 0x100, 64),
        Operation(K.CACHE_CLEAN, 0x100, 32),
        Operation(K.DMA_READ, 0x100, 64),
    ]
    (found,) = racy_bytes(MemorySystem(), operations)
    assert found == (0x120, 0x13F, 2)


def test_oracle_refuses_a_long_trace():
    whole = Operation(K.CACHED_READ, 0, 1 << 26)
    with pytest.raises(OracleLimitError, match="limit of 1000000 lines"):
        racy_bytes(MemorySystem(), [whole])
