"""Vocabulary of the bus monitor's streams: operations, their rows, hits and steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.trace.noncoherent.operations import (
    RANGE_KINDS,
    Operation,
    OperationKind,
)

_K = OperationKind


class BusOperation(NamedTuple):
    """An operation on the monitor's input; fields that its kind does not use are ignored.

    ``rows`` of ``size`` bytes each lie ``stride`` bytes apart; 0 and 1 are one row.  A range of
    size 0 has no row: it is not checked, but counted (``EMPTY_OPERATIONS``).
    """

    kind: int
    engine: int = 0
    address: int = 0
    size: int = 0
    rows: int = 0
    stride: int = 0
    tag: int = 0


class Row(NamedTuple):
    """A row of an operation: the bytes from ``first`` up to the one before ``end``."""

    kind: int
    engine: int
    first: int
    end: int
    tag: int


class Hit(NamedTuple):
    """Match of a row with earlier operations on one side.

    Parameters
    ----------
    found : int
        Whether there is one.
    definite : int
        Whether the entry has exactly the bytes inserted; otherwise the race is only possible.
    others : int
        Whether bytes of the entry come from other operations than ``tag``'s, too.
    tag : int
        The earlier operation.
    """

    found: int
    definite: int
    others: int
    tag: int


#: No match.
MISS = Hit(0, 0, 0, 0)


class MonitorStep(NamedTuple):
    """A row checked, its matches, and a digest of all entries after it."""

    row: Row
    dma: Hit
    cache: Hit
    digest: int


def bus_operation(params: NoncoherentParams, number: int, operation: Operation) -> BusOperation:
    """An operation of a trace as input of the monitor, tagged by its number.

    Raises
    ------
    ValueError
        If its addresses are beyond the address bits.
    """
    ranges = operation.ranges
    if operation.size and ranges[-1][1] >> params.address_bits:
        raise ValueError(
            f"Parameter address_bits must be at least {ranges[-1][1].bit_length()} for the "
            f"addresses of the trace, not {params.address_bits}"
        )
    tag = number & ((1 << params.tag_bits) - 1)
    if len(ranges) == 1 and operation.size:
        ((first, last),) = ranges
        return BusOperation(operation.kind, operation.engine, first, last + 1 - first, 0, 0, tag)
    return BusOperation(
        operation.kind, operation.engine, operation.address, operation.size, operation.rows,
        operation.stride, tag,
    )  # fmt: skip


def is_empty(operation: BusOperation) -> bool:
    """Whether an operation has a range, but of no bytes."""
    return operation.kind in RANGE_KINDS and not operation.size


def rows_of(params: NoncoherentParams, operation: BusOperation) -> Iterator[Row]:
    """Rows that the monitor checks one after another; none for a range of size 0, all bytes if the
    kind has no range."""
    kind, engine, tag = operation.kind, operation.engine, operation.tag
    if kind not in RANGE_KINDS:
        yield Row(kind, engine, 0, 1 << params.address_bits, tag)
        return
    if is_empty(operation):
        return
    for row in range(max(operation.rows, 1)):
        first = operation.address + row * operation.stride
        yield Row(kind, engine, first, first + operation.size, tag)


#: Rule that each kind of operation breaks with DMA, and with the cache.
DMA_RULES = {
    _K.CACHED_READ: Rule.CACHED_READ_DMA,
    _K.CACHED_WRITE: Rule.CACHED_WRITE_DMA,
    _K.UNCACHED_READ: Rule.UNCACHED_READ_DMA,
    _K.UNCACHED_WRITE: Rule.UNCACHED_WRITE_DMA,
    _K.DMA_READ: Rule.TWO_ENGINES,
    _K.DMA_WRITE: Rule.TWO_ENGINES,
}
CACHE_RULES = {
    _K.CACHED_READ: Rule.STALE_READ,
    _K.CACHED_WRITE: Rule.STALE_WRITE_BACK,
    _K.UNCACHED_READ: Rule.UNCACHED_READ_DIRTY,
    _K.UNCACHED_WRITE: Rule.UNCACHED_WRITE_DIRTY,
    _K.DMA_READ: Rule.DMA_READ_DIRTY,
    _K.DMA_WRITE: Rule.DMA_WRITE_DIRTY,
    _K.CACHE_INVALIDATE: Rule.LOST_DATA,
    _K.INVALIDATE_ALL: Rule.LOST_DATA,
}


def rules_of(step: MonitorStep) -> Iterator[tuple[Rule, Hit]]:
    """Rules that a row breaks, each with its match."""
    kind = OperationKind(step.row.kind)
    for rules, hit in ((DMA_RULES, step.dma), (CACHE_RULES, step.cache)):
        if hit.found:
            yield rules[kind], hit
