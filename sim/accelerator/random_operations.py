"""Random operations of a CPU and its accelerators on a few cache lines, often racy."""

from __future__ import annotations

import random

from racetrap.golden_model.trace.noncoherent.operations import (
    ENGINE_KINDS,
    RANGE_KINDS,
    MemorySystem,
    Operation,
    OperationKind,
)

#: Weight of each kind; kinds that end many hazards at once are rare.
_WEIGHTS = {
    OperationKind.CACHED_READ: 8,
    OperationKind.CACHED_WRITE: 8,
    OperationKind.UNCACHED_READ: 4,
    OperationKind.UNCACHED_WRITE: 4,
    OperationKind.DMA_READ: 7,
    OperationKind.DMA_WRITE: 7,
    OperationKind.SYNC: 5,
    OperationKind.SYNC_ALL: 2,
    OperationKind.CACHE_FLUSH: 6,
    OperationKind.CACHE_CLEAN: 4,
    OperationKind.CACHE_INVALIDATE: 4,
    OperationKind.FLUSH_ALL: 1,
    OperationKind.CLEAN_ALL: 1,
    OperationKind.INVALIDATE_ALL: 1,
}
_LONGEST = 64
_MOST_ROWS = 8


def random_memory(generator: random.Random) -> MemorySystem:
    """A tiny machine: lines of 2 to 4 bytes, any granule, one or two engines, any options."""
    line = generator.choice((2, 4))
    granule = generator.choice([size for size in (1, 2, 4) if size <= line])
    return MemorySystem(
        line_bytes=line,
        granule_bytes=granule,
        engines=generator.choice((1, 2)),
        prefetch=generator.random() < 0.25,
        uncached_snoops_cache=generator.random() < 0.25,
        write_through=generator.random() < 0.25,
    )


def random_operations(
    generator: random.Random, memory: MemorySystem, count: int, size: int, pcs: int = 0
) -> list[Operation]:
    """Operations on the bytes below ``size``.

    Parameters
    ----------
    generator : random.Random
        Source of all choices.
    memory : MemorySystem
        Target hardware.
    count : int
        Number of operations.
    size : int
        Bytes of memory.
    pcs : int
        Number of different PCs; with 0 the operations have no PC.
    """
    kinds = generator.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=count)
    return [_operation(generator, memory, kind, size, pcs) for kind in kinds]


def _operation(
    generator: random.Random, memory: MemorySystem, kind: OperationKind, size: int, pcs: int
) -> Operation:
    fields: dict[str, int] = {}
    if kind in RANGE_KINDS:
        first = generator.randrange(size)
        length = generator.randint(1, min(size - first, generator.choice((1, 2, 4, _LONGEST))))
        fields |= {"address": first, "size": length}
        stride = generator.randint(length, 2 * length + 1)
        rows = 1 + (size - first - length) // stride
        if rows > 1 and generator.random() < 0.2:
            fields |= {"rows": generator.randint(2, min(rows, _MOST_ROWS)), "stride": stride}
    if kind in ENGINE_KINDS:
        fields["engine"] = generator.randrange(memory.engines)
    if pcs:
        fields["pc"] = 0x100 * (kind + 1) + generator.randrange(pcs)
    return Operation(kind, **fields)
